// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
public import PinListMetadata

/// A root or a list to sign, combine or inspect: the payload alone, or in an envelope.
public struct SignableMetadata: Sendable {
    /// The content of the payload.
    public enum Content: Sendable {
        /// A root, which says which keys may sign.
        case root(Root)
        /// A list of pins.
        case pins(PinList)
    }

    /// The envelope; a payload that came alone is in one without signatures.
    public let envelope: Envelope

    /// The content of the payload, unverified.
    public let content: Content

    /// Whether it came in an envelope.
    public let isEnvelope: Bool

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - bytes: The content of the file.
    ///   - name: The name as the user gave it.
    /// - Throws: ``RepositoryError`` when it is neither a root nor a list, or not as formats.md, section 3, says.
    public init(_ bytes: [UInt8], named name: String) throws(RepositoryError) {
        let limits = MetadataLimits()
        guard bytes.count <= limits.listBytes else {
            throw RepositoryError(
                .metadata, "\(name): over \(limits.listBytes) bytes, which is more than a client takes")
        }
        do throws(MetadataError) {
            (self.envelope, self.isEnvelope) = try Self.envelope(in: bytes, limits)
            let isRoot = self.envelope.payloadType == Envelope.payloadType(of: .root)
            self.content =
                isRoot
                ? .root(try Root(payload: self.envelope.payload)) : .pins(try PinList(payload: self.envelope.payload))
        } catch {
            throw RepositoryError(.metadata, "\(name): \(error.code): \(error.detail)")
        }
    }

    /// The kind of metadata.
    public var kind: MetadataRole {
        switch self.content {
        case .root: .root
        case .pins: .pins
        }
    }

    /// The name that it is for.
    public var name: String {
        switch self.content {
        case .root(let root): root.name
        case .pins(let list): list.name
        }
    }

    /// The version.
    public var version: Int64 {
        switch self.content {
        case .root(let root): root.version
        case .pins(let list): list.version
        }
    }

    /// Refuses a list whose `denied` has the hash of a certificate: it would look like protection, and is none.
    ///
    /// - Throws: ``RepositoryError``.
    public func expectDeniedKeys() throws(RepositoryError) {
        guard case .pins(let list) = self.content, list.denied.contains(where: { $0.pin.kind == .certificate }) else {
            return
        }
        let rule = LintRule.deniedCertificate
        throw RepositoryError(.metadata, "denied has the hash of a certificate: \(rule.reason)", hint: rule.fix)
    }

    /// An envelope as the bytes of a file, which must be no more than a client reads: base64 makes a payload that a
    /// third longer.
    ///
    /// - Throws: ``RepositoryError`` when it is too large.
    public static func file(of envelope: Envelope) throws(RepositoryError) -> [UInt8] {
        let limits = MetadataLimits()
        let isRoot = envelope.payloadType == Envelope.payloadType(of: .root)
        let maximum = isRoot ? limits.rootBytes : limits.listBytes
        let bytes = envelope.bytes
        guard bytes.count <= maximum else {
            throw RepositoryError(
                .metadata, "the envelope has \(bytes.count) bytes, and clients read at most \(maximum)",
                hint: "shorter notes, or fewer entries")
        }
        return bytes
    }

    /// The lower-case hex SHA-256 of the payload: what people compare before they sign.
    public var payloadDigest: String { Envelope.digest(of: self.envelope.payload) }

    /// Members that this version does not know. Clients ignore them, so they must not be signed.
    public var unknownMembers: [String] {
        switch self.content {
        case .root(let root): root.unknownMembers
        case .pins(let list): list.unknownMembers
        }
    }

    /// The envelope in a file, or one around the payload that it is. What it says of itself decides which.
    private static func envelope(
        in bytes: [UInt8], _ limits: MetadataLimits
    ) throws(MetadataError) -> (Envelope, isEnvelope: Bool) {
        let value: JSONValue
        do { value = try JSONValue(strict: bytes) } catch {
            throw MetadataError(.pins, .malformed, error.description)
        }
        guard case .object(let members) = value else {
            throw MetadataError(.pins, .malformed, "the whole is not an object")
        }
        func text(_ name: String) -> String? {
            guard case .string(let text) = members.first(where: { $0.name == name })?.value else { return nil }
            return text
        }
        let root = MetadataRole.root
        if let payloadType = text("payloadType") {
            let kind = payloadType == Envelope.payloadType(of: root) ? root : .pins
            return (try Envelope(bytes, of: kind, limits: limits), true)
        }
        guard let type = text("type") else {
            throw MetadataError(.pins, .wrongType, "neither a payload (type) nor an envelope (payloadType)")
        }
        let kind = type == root.rawValue ? root : .pins
        return (Envelope(payloadType: Envelope.payloadType(of: kind), payload: bytes), false)
    }
}
