// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// The answer of the gate on a certificate or a key for a host (formats.md, section 8).
public struct GateAnswer: Hashable, Sendable {
    /// A pin that matched, as the entry has it.
    public struct Match: Hashable, Sendable {
        /// The pin.
        public let pin: Pin
        /// The position in the path at which the entry expects it.
        public let position: KnownPin.Position

        /// States a match.
        public init(_ pin: Pin, _ position: KnownPin.Position) {
            self.pin = pin
            self.position = position
        }
    }

    /// The host that would present it.
    public let host: HostName
    /// The domain of the newest list's entry that applies; `nil` when none does.
    public let notedHostname: HostName?
    /// Whether it may be deployed.
    public let verdict: GateVerdict
    /// The pin of the newest list that matches; `nil` when none does.
    public let matched: Match?
    /// The share of the installations that would refuse it.
    public let refusing: GateRefusing
    /// The reason, in one line without a full stop.
    public let reason: String

    /// States an answer.
    public init(
        host: HostName, notedHostname: HostName?, verdict: GateVerdict, matched: Match?, refusing: GateRefusing,
        reason: String
    ) {
        self.host = host
        self.notedHostname = notedHostname
        self.verdict = verdict
        self.matched = matched
        self.refusing = refusing
        self.reason = reason
    }
}

/// The verdict of the gate on deploying a certificate now.
public enum GateVerdict: String, Hashable, Sendable, Codable, CaseIterable {
    /// The certificate may be deployed: no more installations than agreed would be locked out.
    case safe
    /// The certificate must not be deployed.
    case unsafe
    /// The facts are not enough for an answer. That is not safe.
    case unknown
}

/// The JSON that `tumbler gate --json` prints: every answer has the same members, and `null` stands where there is
/// nothing.
extension GateAnswer: Codable {
    enum CodingKeys: CodingKey { case host, notedHostname, verdict, matched, refusing, reason }

    /// Writes the members.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.host.description, forKey: .host)
        try container.encode(self.notedHostname?.description, forKey: .notedHostname)
        try container.encode(self.verdict, forKey: .verdict)
        try container.encode(self.matched, forKey: .matched)
        try container.encode(self.refusing, forKey: .refusing)
        try container.encode(self.reason, forKey: .reason)
    }

    /// Reads the members. The reason is made one printable line.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func host(_ text: String, _ key: CodingKeys) throws -> HostName {
            do throws(InputError) { return try HostName(text) } catch {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: container, debugDescription: error.description)
            }
        }
        guard let verdict = GateVerdict(rawValue: try container.decode(String.self, forKey: .verdict)) else {
            throw DecodingError.dataCorruptedError(
                forKey: .verdict, in: container, debugDescription: "safe, unsafe or unknown")
        }
        self.init(
            host: try host(try container.decode(String.self, forKey: .host), .host),
            notedHostname: try container.decodeIfPresent(String.self, forKey: .notedHostname).map {
                try host($0, .notedHostname)
            },
            verdict: verdict,
            matched: try container.decodeIfPresent(Match.self, forKey: .matched),
            refusing: try container.decode(GateRefusing.self, forKey: .refusing),
            reason: PrintableText.line(try container.decode(String.self, forKey: .reason)))
    }
}

extension GateAnswer.Match: Codable {
    enum CodingKeys: CodingKey { case pin, position }

    /// Writes the pin in its canonical form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.pin.description, forKey: .pin)
        try container.encode(self.position.rawValue, forKey: .position)
    }

    /// Reads a pin in any written form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let pin = try? Pin(try container.decode(String.self, forKey: .pin)) else {
            throw DecodingError.dataCorruptedError(forKey: .pin, in: container, debugDescription: "a pin")
        }
        guard let position = KnownPin.Position(rawValue: try container.decode(String.self, forKey: .position)) else {
            throw DecodingError.dataCorruptedError(
                forKey: .position, in: container, debugDescription: "any, leaf or issuer")
        }
        self.init(pin, position)
    }
}
