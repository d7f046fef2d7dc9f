// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import PinListMetadata
internal import PinRotation

/// The facts of a probe's result. It comes from outside, with a token: what is missing or odd is left out.
package struct ProbeFacts {
    /// The maximum number of values of a host's object: 16 certificates, 64 addresses, 256 notes and some.
    package static let maximumValues = 4_096

    /// The problem, in words; `nil` when there is none.
    package let trouble: String?
    /// Whether the host, or what the probe says of it, gave nothing to evaluate: no verdict and no
    /// path. Its network may be at fault.
    package let isUnreached: Bool
    /// The addresses that the probe could not ask, of a host that was reached and is not well, each with why; in words,
    /// and `nil` for none. A probe that has no route to an address, and asked another one, calls the host well.
    package let missedAddresses: String?
    /// The time at which the first certificate of the path ends.
    package let firstEnd: Timestamp?
    /// The path, leaf first: pins, and when each certificate ends.
    package let path: [(pin: String, end: Timestamp?)]
    /// The pins of the leaves that the addresses of the host present, as far as the probe told them apart.
    package let addressLeaves: [String]
    /// The issuer of the leaf.
    package let issuer: String?
    /// The revoked certificates that the host serves, each in words; ``maximumNamed`` at most.
    package let revoked: [String]
    /// The pin of the list that matched.
    let matched: String?

    package init(_ result: [UInt8]) {
        let value = try? JSONValue(strict: result, maximumValues: Self.maximumValues, numbers: .written)
        let members = Self.members(value)
        let path = Self.elements(members["path"]).map(Self.members)
        self.path = path.compactMap { certificate in
            Self.text(certificate["pin"]).map {
                ($0, Self.text(certificate["notAfter"]).flatMap { try? Timestamp($0) })
            }
        }
        self.addressLeaves = Self.elements(members["addresses"]).compactMap { Self.text(Self.members($0)["pin"]) }
        self.issuer = path.first.flatMap { Self.text($0["issuer"]) }
        self.firstEnd = path.compactMap { Self.text($0["notAfter"]).flatMap { try? Timestamp($0) } }.min()
        self.matched = Self.text(members["matched"]) ?? Self.text(Self.members(members["matched"])["pin"])
        self.revoked = Self.elements(members["revoked"]).prefix(Self.maximumNamed).map {
            Self.revoked(Self.members($0))
        }
        // What says neither is unknown, and unknown is not well.
        let isSilent = Self.text(members["verdict"]) == nil && members["ok"] != .bool(true)
        self.isUnreached = isSilent && path.isEmpty
        let missed = Self.elements(members["addresses"]).compactMap(Self.missed)
        self.missedAddresses =
            self.isUnreached || !Self.isFalse(members["ok"]) ? nil : Self.words(missed, of: members["addresses"])
        if let error = Self.text(members["error"]) {
            self.trouble = error
        } else if Self.text(members["verdict"]) == "block" {
            self.trouble = "apps refuse it: \(Self.text(members["reason"]) ?? "no reason given")"
        } else if Self.isFalse(members["ok"]),
            let refusal = Self.refusal(Self.versions(members["refusedBy"]), Self.share(members["refusing"]))
        {
            self.trouble = "apps refuse it that \(refusal)"
        } else {
            self.trouble = isSilent ? "the probe does not say what it found" : nil
        }
    }

    private static func members(_ value: JSONValue?) -> [String: JSONValue] {
        guard case .object(let members)? = value else { return [:] }
        return Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
    }

    private static func elements(_ value: JSONValue?) -> [JSONValue] {
        guard case .array(let elements)? = value else { return [] }
        return elements
    }

    /// The maximum number of missed addresses that are named; the rest is counted.
    private static let maximumNamed = 4

    /// An address that could not be asked, and why; `nil` for one that was.
    private static func missed(_ address: JSONValue) -> String? {
        let members = Self.members(address)
        guard let name = Self.text(members["address"]), Self.text(members["verdict"]) == nil,
            let error = Self.text(members["error"])
        else { return nil }
        return "\(name) (\(error))"
    }

    private static func words(_ missed: [String], of addresses: JSONValue?) -> String? {
        guard !missed.isEmpty else { return nil }
        let more = missed.count > Self.maximumNamed ? " and \(missed.count - Self.maximumNamed) more" : ""
        return "\(missed.count) of its \(Self.elements(addresses).count) addresses: "
            + missed.prefix(Self.maximumNamed).joined(separator: ", ") + more
    }

    /// A revoked certificate in words. What is there counts, also without a word about it.
    private static func revoked(_ members: [String: JSONValue]) -> String {
        let what = members["index"] == .integer(0) ? "its certificate" : "the certificate of a CA in its path"
        let serial = Self.text(members["serial"]).map { " with the serial number \($0)" } ?? ""
        let since = Self.text(members["since"]).map { " since \($0)" } ?? ""
        let reason = Self.text(members["reason"]).map { " (\($0))" } ?? ""
        return "\(what)\(serial) is revoked by its issuer\(since)\(reason)"
    }

    private static func isFalse(_ value: JSONValue?) -> Bool { value == .bool(false) }

    /// Versions of lists, in words; `nil` for none.
    private static func versions(_ value: JSONValue?) -> String? {
        let versions = self.elements(value).prefix(16).compactMap { value in
            if case .integer(let version) = value { "\(version)" } else { nil }
        }
        return versions.isEmpty ? nil : versions.joined(separator: ", ")
    }

    /// What those hold who refuse a host, in words; `nil` where none does, or where so few do that it is tolerated: the host
    /// is not well for another reason.
    private static func refusal(_ versions: String?, _ share: Double?) -> String? {
        guard let share else { return versions.map { "still hold list \($0)" } }
        guard share > GateRules.usualMaxRefusing / 100 else { return nil }
        let lists = versions.map { "still hold list \($0), or one" } ?? "hold a list"
        return "\(lists) that is not in lists/: \(Share.percent(share)) of the installations"
    }

    /// A share that was measured: a number that is no whole one is text (``JSONValue/Numbers/written``). Earlier versions
    /// kept 0 of each, and none is told where no installation refuses: that says nothing.
    private static func share(_ value: JSONValue?) -> Double? {
        switch value {
        case .integer(let share) where share > 0: Double(share)
        case .string(let share): Double(share)
        default: nil
        }
    }

    private static func text(_ value: JSONValue?) -> String? {
        guard case .string(let text)? = value else { return nil }
        return PrintableText.line(text, maximumLength: 256)
    }
}
