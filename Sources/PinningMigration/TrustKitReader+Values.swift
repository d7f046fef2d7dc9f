// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

extension TrustKitReader {
    /// The pins of a host.
    mutating func pins(_ value: ConfigurationValue?, _ domain: String) -> [KnownPin] {
        guard let value else { return [] }
        guard case .list(let values) = value else {
            self.collector.warn(
                domain, "TSKPublicKeyHashes", .stricter, "left out: \(value.kind) where an array belongs")
            return []
        }
        var pins: [KnownPin] = []
        for value in values {
            guard case .text(let text) = value else {
                self.collector.warn(domain, "TSKPublicKeyHashes", .stricter, "left out, not a pin: \(value.kind)")
                continue
            }
            if let pin = self.collector.pin(text, of: domain, "TSKPublicKeyHashes") { pins.append(KnownPin(pin)) }
        }
        return pins
    }

    /// The end of an entry: midnight UTC of a day.
    mutating func expiry(_ value: ConfigurationValue, _ domain: String) -> Timestamp? {
        switch value {
        case .text(let text):
            if let time = Timestamp(day: text) { return time }
            self.collector.warn(
                domain, "TSKExpirationDate", .same,
                "\"\(PrintableText.line(text, maximumLength: 32))\" is not yyyy-MM-dd: the entry never expires, "
                    + "as in TrustKit")
        case .date(let time): return time
        default:
            self.collector.warn(
                domain, "TSKExpirationDate", .stricter,
                "\(value.kind) where yyyy-MM-dd belongs: it never expires")
        }
        return nil
    }

    /// The addresses of reports.
    mutating func addresses(_ value: ConfigurationValue, _ domain: String) -> [String] {
        guard case .list(let values) = value else {
            self.collector.warn(domain, "TSKReportUris", .same, "left out: \(value.kind) where an array belongs")
            return []
        }
        var addresses: [String] = []
        for value in values {
            if case .text(let text) = value, SecureAddress.isAllowed(text) {
                if !addresses.contains(text), addresses.count < MigrationLimits.pins { addresses.append(text) }
                continue
            }
            self.collector.warn(
                domain, "TSKReportUris", .same, "left out: reports go to https addresses with a host alone")
        }
        return addresses
    }
}

extension MigrationCollector {
    /// Reads a boolean. A value that says neither YES nor NO gives a warning.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - unclear: What is taken where the value is unclear: the one by which more is refused.
    ///   - domain: The host as it was written.
    ///   - key: The name of the setting.
    ///   - effect: The effect of that; the other tool takes an unclear text for NO.
    mutating func flag(
        _ value: ConfigurationValue, unclear: Bool, _ domain: String?, _ key: String,
        _ effect: MigrationWarning.Effect = .same
    ) -> Bool {
        if let flag = value.boolean { return flag }
        self.warn(domain, key, effect, "\(value.kind) where a boolean belongs: taken as \(unclear ? "YES" : "NO")")
        return unclear
    }
}

extension Timestamp {
    /// Midnight UTC of a day that is written `yyyy-MM-dd`, or `nil`.
    init?(day text: String) {
        let day = text.utf8.drop { $0 == UInt8(ascii: " ") }
        guard let time = try? Timestamp("\(String(decoding: day.prefix(10), as: UTF8.self))T00:00:00Z"),
            day.dropFirst(10).allSatisfy({ $0 == UInt8(ascii: " ") })
        else { return nil }
        self = time
    }
}
