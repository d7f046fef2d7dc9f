// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// A certificate of a path that a host serves, and that its issuer revoked: a revocation list has it.
public struct ProbedRevocation: Hashable, Sendable, Encodable {
    /// Its place in the path; the server's own certificate is 0.
    public let index: Int
    /// The pin of the key that issued it; `nil` when that cannot be read.
    public let issuer: Pin?
    /// Its serial number; `nil` for one that no list of ours can name.
    public let serial: SerialNumber?
    /// Since when; `nil` where the list does not say.
    public let since: Timestamp?
    /// The reason, as RFC 5280, section 5.3.1, calls it; `nil` where the list does not say.
    public let reason: String?

    /// States what a revocation list says.
    public init(index: Int, issuer: Pin?, serial: SerialNumber?, since: Timestamp?, reason: String?) {
        (self.index, self.issuer, self.serial) = (index, issuer, serial)
        (self.since, self.reason) = (since, reason)
    }

    /// One line for people.
    var line: String {
        let what = self.index == 0 ? "the server's certificate" : "the certificate of a CA in its path"
        let serial = self.serial.map { ", serial number \($0)," } ?? ""
        let words = [self.since.map { " since \($0)" }, self.reason.map { " (\($0))" }].compactMap { $0 }.joined()
        return "\(what)\(serial) is revoked by its issuer\(words); tumbler revocations --write puts it into the list"
    }

    enum CodingKeys: CodingKey { case index, issuer, serial, since, reason }

    /// Writes all members; `null` stands where there is nothing.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.index, forKey: .index)
        try container.encode(self.issuer?.description, forKey: .issuer)
        try container.encode(self.serial?.description, forKey: .serial)
        try container.encode(self.since?.description, forKey: .since)
        try container.encode(self.reason, forKey: .reason)
    }
}

extension ProbedHost {
    /// Adds what revocation lists say of what the host serves, at any of its addresses.
    ///
    /// - Parameters:
    ///   - revoked: The certificates that are revoked.
    ///   - notes: What could not be decided, each a line.
    public mutating func add(_ revoked: [ProbedRevocation], notes: [String]) {
        self.revoked = revoked
        self.notes += revoked.map(\.line) + notes.map { PrintableText.line($0, maximumLength: 512) }
        // Who is locked out by it now counts for more.
        if !revoked.isEmpty, self.state != .locksOut { self.state = .revoked }
    }
}
