// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
public import PinListMetadata

/// A list that was given, and whether its signatures were verified.
public struct KnownList: Sendable {
    /// The list.
    public let list: PinList

    /// The newest of the roots that were given, if there were any.
    public let root: Root?

    /// Whether the list carries a threshold under one of them.
    public let isVerified: Bool

    /// The roots of a project, verified one by the other.
    ///
    /// - Parameter envelopes: The envelopes, the first one first.
    /// - Returns: `nil` when there are none.
    /// - Throws: ``RepositoryError`` of code `metadata` that names the root.
    public static func chain(_ envelopes: [[UInt8]]) throws(RepositoryError) -> TrustState? {
        guard let first = envelopes.first else { return nil }
        var version = 1
        do throws(MetadataError) {
            var state = try TrustState(bundledRoot: first, bundledList: nil)
            for envelope in envelopes.dropFirst() {
                version += 1
                try state.load(root: envelope)
            }
            return state
        } catch {
            throw RepositoryError(
                .metadata, "root/\(version).json: \(error.description)", hint: "restore the file from version control")
        }
    }

    /// Reads a list: an envelope, verified where there are roots, or a bare payload.
    ///
    /// - Parameters:
    ///   - bytes: The envelope, or the payload.
    ///   - name: The name for errors.
    ///   - roots: The envelopes of the roots, the first one first; with none nothing is verified.
    /// - Throws: ``RepositoryError`` of code `metadata`.
    public init(_ bytes: [UInt8], named name: String, roots: [[UInt8]]) throws(RepositoryError) {
        var chain = try Self.chain(roots)
        self.root = chain?.chain.newest
        do throws(MetadataError) {
            guard Self.isEnvelope(bytes) else {
                self.list = try PinList(payload: bytes)
                self.isVerified = false
                return
            }
            guard chain != nil else {
                self.list = try PinList(payload: try Envelope(bytes, of: .pins, limits: MetadataLimits()).payload)
                self.isVerified = false
                return
            }
            try chain?.load(list: bytes)
            guard let held = chain?.outside else { throw MetadataError(.pins, .unsigned, "no signature is valid") }
            self.list = held.list
            self.isVerified = true
        } catch {
            throw RepositoryError(.metadata, "\(name): \(error.description)")
        }
    }

    /// Whether some bytes are strict JSON of an envelope, signed or not.
    static func isEnvelope(_ bytes: [UInt8]) -> Bool {
        guard case .object(let members) = try? JSONValue(strict: bytes) else { return false }
        return members.contains { $0.name == "payloadType" }
    }

    /// Whether some bytes are JSON of a list at all; anything else may be a source.
    public static func isJSON(_ bytes: [UInt8]) -> Bool {
        guard bytes.count <= MetadataLimits().listBytes, case .object(let members) = try? JSONValue(strict: bytes)
        else {
            return false
        }
        return members.contains { $0.name == "payloadType" || $0.name == "type" }
    }
}
