// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// A list that is held, with the envelope that it came in.
public struct HeldList: Sendable {
    /// The status of a held list: current or superseded.
    public enum Status: String, Hashable, Sendable {
        /// The list carries a threshold of signatures under the newest root, and was issued no earlier than the newest
        /// revoking root.
        case current
        /// The list carries a threshold of signatures under an older root of the chain. It stays in force until a
        /// current list is there. Its version does not bound newer ones.
        case superseded
    }

    /// The list.
    public let list: PinList

    /// The envelope, byte for byte.
    public let bytes: [UInt8]

    /// The lower-case hex SHA-256 of ``bytes``: what a client names in `If-None-Match`. Hashed when it is asked for.
    public var digest: String { Envelope.digest(of: self.bytes) }

    /// The status of a held list: current or superseded.
    public private(set) var status: Status

    /// The place among the lists that come into force.
    package private(set) var order: ListOrder

    /// The signed payload: two lists of one version are equal when these bytes are.
    var payload: [UInt8] { self.verified.envelope.payload }

    private var verified: VerifiedEnvelope

    /// Verifies the signatures and the name of a list, and reads it. Checks neither times nor the version.
    ///
    /// - Parameters:
    ///   - bytes: The envelope.
    ///   - chain: The roots.
    ///   - onlyNewest: Whether only the newest root may authorise it, as for a list from outside.
    ///   - demanding: The demands of the role that are checked.
    ///   - limits: The size limits.
    /// - Throws: ``MetadataError``.
    init(
        _ bytes: [UInt8], under chain: RootChain, onlyNewest: Bool, demanding: VerifiedEnvelope.Demanded,
        limits: MetadataLimits
    ) throws(MetadataError) {
        let envelope = try Envelope(bytes, of: .pins, limits: limits)
        let roots = onlyNewest ? [chain.newest] : chain.newestFirst
        let verified = try VerifiedEnvelope(envelope, .pins, anyOf: roots, demanding: demanding) { $0.pins }
        do throws(MetadataError) {
            self.list = try PinList(payload: envelope.payload)
            guard self.list.name.utf8.elementsEqual(chain.newest.name.utf8) else {
                throw MetadataError(.pins, .wrongName, "the list is \(self.list.name), not \(chain.newest.name)")
            }
        } catch {
            var refusal = error
            refusal.isSigned = true
            throw refusal
        }
        self.bytes = bytes
        self.verified = verified
        self.status = .superseded
        self.order = ListOrder(under: 0, version: self.list.version)
        self.evaluate(under: chain)
    }

    /// Updates the status after a new root. The root that once authorised the list stays in the chain, so the list
    /// is superseded at worst.
    mutating func evaluate(under chain: RootChain) {
        let isLate = chain.revokedBefore.map { self.list.issuedAt >= $0 } ?? true
        let isVouchedFor = self.verified.meets(chain.newest.pins, of: chain.newest, demanding: .first)
        self.status = isLate && isVouchedFor ? .current : .superseded
        self.order = ListOrder(
            under: self.status == .current ? chain.newestSuperseding : 0, version: self.list.version)
    }

    /// Whether this list is preferred to another: current before superseded, then the higher version.
    public func isNewer(than other: HeldList) -> Bool {
        self.status == other.status ? self.list.version > other.list.version : self.status == .current
    }

    /// Whether this is the payload of a current list in an envelope that lacks a signature which may still be needed.
    /// Such an envelope replaces the other one neither in memory nor on disk. A superseded list does not bound others.
    ///
    /// Source: formats.md, section 3.3, step 3d.
    public func lacksSignature(of held: HeldList, under chain: RootChain) -> Bool {
        guard held.status == .current, self.list.version == held.list.version, self.payload == held.payload else {
            return false
        }
        return self.verified.lacksSignature(of: held.verified, under: chain)
    }

    /// The ids of the keys of the newest root that signed it.
    mutating func signers(under chain: RootChain) -> [String] {
        self.verified.signers(chain.newest.pins, of: chain.newest).map(\.keyID)
    }
}

/// The place of a list among those that come into force.
///
/// A version alone is none: the root that revokes a signer frees it, so that the list that follows an attacker's may have a
/// lower version, or the same one (formats.md, section 3.3).
package struct ListOrder: Hashable, Comparable, Sendable {
    /// Where the list is current, the version of the newest root that may have superseded lists, or of the first one; 0
    /// for a superseded list.
    package let root: Int64
    /// The version of the list.
    package let version: Int64

    /// The place of a list.
    package init(under root: Int64, version: Int64) {
        self.root = root
        self.version = version
    }

    /// Whether the left one comes into force before the right one.
    package static func < (left: ListOrder, right: ListOrder) -> Bool {
        (left.root, left.version) < (right.root, right.version)
    }
}
