// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata

/// A certificate with what a monitor says of it: an element of `certificates` in `POST /v1/lists/{name}/sightings`
/// (formats.md, section 7).
public struct ToldCertificate: Hashable, Sendable {
    /// The maximum number of certificates of a chain that are taken. Fewer are looked at:
    /// ``SightedIssuers/maximumCertificates``.
    public static let maximumChain = 16
    /// The maximum number of bytes of a log's name: the addresses of logs have below 100.
    public static let maximumLog = 512

    /// The certificate or precertificate, DER.
    public var certificate: [UInt8]
    /// The certificates above it, the issuer's first.
    public var chain: [[UInt8]]
    /// The log: its address or its name; empty where the monitor does not say.
    public var log: String
    /// The time at which the log took it; `nil` where the monitor does not say.
    public var loggedAt: Timestamp?

    /// States what was found.
    public init(_ certificate: [UInt8], chain: [[UInt8]] = [], log: String = "", loggedAt: Timestamp? = nil) {
        self.certificate = certificate
        self.chain = chain
        self.log = log
        self.loggedAt = loggedAt
    }

    /// Reads it. Members that are not known are passed over.
    ///
    /// - Throws: ``SightingError``.
    public init(_ value: JSONValue) throws(SightingError) {
        guard case .object(let members) = value else { throw SightingError("not an object") }
        func member(_ name: String) -> JSONValue? { members.first { $0.name == name }?.value }
        guard case .string(let text)? = member("der") else { throw SightingError("der is missing") }
        self.certificate = try Self.bytes(text, "der")
        self.chain = []
        switch member("chain") {
        case nil, .null?: break
        case .array(let above)? where above.count <= Self.maximumChain:
            for value in above {
                guard case .string(let text) = value else { throw SightingError("chain has a non-string") }
                self.chain.append(try Self.bytes(text, "chain"))
            }
        default: throw SightingError("chain is not an array of at most \(Self.maximumChain) strings")
        }
        self.log = ""
        switch member("log") {
        case nil, .null?: break
        case .string(let text)?: self.log = PrintableText.line(text, maximumLength: Self.maximumLog)
        default: throw SightingError("log is not a string")
        }
        switch member("loggedAt") {
        case nil, .null?: self.loggedAt = nil
        case .string(let text)?:
            guard let time = try? Timestamp(text) else {
                throw SightingError("loggedAt is not a time such as 2026-11-21T00:00:00Z")
            }
            self.loggedAt = time
        default: throw SightingError("loggedAt is not a string")
        }
    }

    private static func bytes(_ text: String, _ name: String) throws(SightingError) -> [UInt8] {
        guard let bytes = Base64.decode(text.utf8) else { throw SightingError("\(name) is not base64") }
        return bytes
    }

    /// The certificate as JSON.
    public var json: JSONValue {
        var members: [JSONValue.Member] = [.init("der", .string(Base64.encode(self.certificate)))]
        if !self.chain.isEmpty {
            members.append(.init("chain", .array(self.chain.map { .string(Base64.encode($0)) })))
        }
        if !self.log.isEmpty { members.append(.init("log", .string(self.log))) }
        if let loggedAt { members.append(.init("loggedAt", .string(loggedAt.description))) }
        return .object(members)
    }
}
