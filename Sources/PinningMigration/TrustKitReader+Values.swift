// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

extension TrustKitReader {
    /// Reads a boolean, in each form that Objective-C accepts.
    mutating func flag(_ value: ConfigurationValue, default absent: Bool, _ domain: String?, _ key: String) -> Bool {
        self.collector.flag(value, default: absent, domain, key)
    }

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
    /// Reads a boolean, in each form that Objective-C accepts; any other value gives a warning and the default.
    mutating func flag(_ value: ConfigurationValue, default absent: Bool, _ domain: String?, _ key: String) -> Bool {
        switch value {
        case .flag(let flag): return flag
        case .integer(let integer): return integer != 0
        case .text(let text):
            switch text.lowercased() {
            case "yes", "true", "1": return true
            case "no", "false", "0": return false
            default: break
            }
        default: break
        }
        self.warn(domain, key, .same, "\(value.kind) where a boolean belongs: taken as \(absent ? "YES" : "NO")")
        return absent
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
