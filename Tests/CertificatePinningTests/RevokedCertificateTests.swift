// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Testing

@Suite("Revoked certificates")
struct RevokedCertificateTests {
    private func entry(_ mode: PinnedDomain.Mode = .enforce, isInRollout: Bool = true) throws -> PinnedDomain {
        PinnedDomain(
            try HostName("api.example.com"), mode: mode, isInRollout: isInRollout, pins: [KnownPin(Cast.leaf.pin)])
    }

    /// A certificate with a serial number, and the path that begins with it.
    private func path(serial: [UInt8], of certificate: SketchedCertificate = Cast.leaf) -> ValidatedPath {
        var leaf = certificate
        leaf.tree[SketchedCertificate.Place.serialNumber] = DERNode(0x02, serial)
        return ValidatedPath(uncheckedValidatedPath: [leaf.der, Cast.intermediate.der, Cast.root.der])
    }

    private func revoked(
        _ serials: String..., by issuer: SketchedCertificate = Cast.intermediate, isEnforced: Bool = true
    ) throws -> RevokedCertificates {
        RevokedCertificates(
            issuer: issuer.pin, serials: try serials.map { try SerialNumber($0) }, isEnforced: isEnforced)
    }

    @Test("one is refused by its issuer's key and its serial number, although its own pin is expected")
    func oneIsRefusedByItsIssuersKeyAndItsSerialNumberAlthoughItsOwnPinIsExpected() throws {
        let path = self.path(serial: [0x0a, 0x1b])
        let policy = try PinningPolicy(domains: [self.entry()], revoked: [self.revoked("0a1b")])
        let decision = policy.validate(path, for: "api.example.com", at: Cast.now)
        #expect(decision.verdict == .block)
        #expect(decision.reason == .revoked)
        #expect(decision.isEnforced)
        #expect(decision.revoked?.index == 0)
        #expect(decision.revoked?.serial.description == "0a1b")
        #expect(decision.revoked?.issuer == Cast.intermediate.pin)
    }

    @Test("the same serial number of another issuer, and another one of the same, are not refused")
    func sameSerialNumberOfAnotherIssuerAndAnotherOneOfTheSameAreNotRefused() throws {
        let path = self.path(serial: [0x0a, 0x1b])
        for revoked in [
            try self.revoked("0a1b", by: Cast.root), try self.revoked("0a1c"), try self.revoked("1b"),
            try self.revoked("0a1b", by: Cast.leaf),
        ] {
            let policy = try PinningPolicy(domains: [self.entry()], revoked: [revoked])
            #expect(policy.validate(path, for: "api.example.com", at: Cast.now).reason == .pinMatch)
        }
    }

    @Test("an intermediate CA is refused like a server; an anchor has no issuer that could take it back")
    func intermediateCAIsRefusedLikeAServer() throws {
        // All sketched certificates have the serial number 1.
        let intermediate = try PinningPolicy(domains: [], revoked: [self.revoked("01", by: Cast.root)])
        let decision = intermediate.validate(Cast.path, for: "elsewhere.example.org", at: Cast.now)
        #expect(decision.reason == .revoked)
        #expect(decision.revoked?.index == 1)
        let alone = ValidatedPath(uncheckedValidatedPath: [Cast.root.der])
        #expect(intermediate.validate(alone, for: "elsewhere.example.org", at: Cast.now).reason == .notPinned)
    }

    @Test("it holds in every mode, for every rollout share, after the entry's end, for unlisted hosts, and suspended")
    func itHoldsInEveryModeForEveryRolloutShareAfterTheEntrysEnd() throws {
        let path = self.path(serial: [0x7f])
        let revoked = [try self.revoked("7f")]
        let suspended = [Suspension(.everything, until: Cast.later, reason: "incident")]
        for mode in PinnedDomain.Mode.allCases {
            for isInRollout in [true, false] {
                for end in [nil, Cast.earlier, Cast.later] {
                    var entry = try self.entry(mode, isInRollout: isInRollout)
                    entry.expiresAt = end
                    let policy = try PinningPolicy(domains: [entry], revoked: revoked, suspended: suspended)
                    #expect(policy.validate(path, for: "api.example.com", at: Cast.now).reason == .revoked)
                }
            }
        }
        for unlisted in UnlistedHosts.allCases {
            let policy = try PinningPolicy(domains: [], revoked: revoked, suspended: suspended, unlisted: unlisted)
            let decision = policy.validate(path, for: "elsewhere.example.org", at: Cast.now)
            #expect(decision.reason == .revoked)
            #expect(decision.isEnforced)
        }
    }

    @Test("a denied key is named before a revoked certificate, and that before one that cannot be compared")
    func deniedKeyIsNamedBeforeARevokedCertificate() throws {
        let path = self.path(serial: [0x7f])
        let both = try PinningPolicy(
            domains: [], denied: [DeniedKey(Cast.root.pin)], revoked: [self.revoked("7f")])
        #expect(both.validate(path, for: "api.example.com", at: Cast.now).reason == .deniedKey)
        let unreadable = ValidatedPath(
            uncheckedValidatedPath: [path.certificates[0], Cast.intermediate.der, Cast.unreadable])
        let policy = try PinningPolicy(domains: [], revoked: [self.revoked("7f")])
        #expect(policy.validate(unreadable, for: "api.example.com", at: Cast.now).reason == .revoked)
    }

    @Test("an entry that only reports changes no verdict, is named, and hides none that enforces")
    func entryThatOnlyReportsChangesNoVerdictIsNamedAndHidesNoneThatEnforces() throws {
        let path = self.path(serial: [0x7f])
        let reported = try self.revoked("7f", isEnforced: false)
        let policy = try PinningPolicy(domains: [self.entry()], revoked: [reported])
        let decision = policy.validate(path, for: "api.example.com", at: Cast.now)
        #expect(decision.verdict == .allow)
        #expect(decision.reason == .pinMatch)
        #expect(decision.revoked?.serial.description == "7f")
        let enforced = try self.revoked("01", by: Cast.root)
        for revoked in [[reported, enforced], [enforced, reported]] {
            let policy = try PinningPolicy(domains: [self.entry()], revoked: revoked)
            let decision = policy.validate(path, for: "api.example.com", at: Cast.now)
            #expect(decision.reason == .revoked)
            #expect(decision.revoked?.index == 1)
        }
        let observing = try PinningPolicy(domains: [self.entry()], revoked: [enforced]).reportingOnly
        #expect(observing.validate(path, for: "api.example.com", at: Cast.now).verdict == .allow)
    }

    @Test("a certificate or a serial number that cannot be read cannot be told from a revoked one")
    func certificateOrASerialNumberThatCannotBeReadCannotBeToldFromARevokedOne() throws {
        let enforced = try PinningPolicy(domains: [self.entry()], revoked: [self.revoked("7f")])
        let reported = try PinningPolicy(domains: [self.entry()], revoked: [self.revoked("7f", isEnforced: false)])
        var paths = [[0x00, 0x7e], [0xff, 0x80], []].map { self.path(serial: $0) }
        paths += [
            ValidatedPath(uncheckedValidatedPath: [Cast.unreadable]),
            ValidatedPath(uncheckedValidatedPath: [Cast.leaf.der, Cast.unreadable, Cast.root.der]),
            ValidatedPath(uncheckedValidatedPath: [Cast.leaf.der, Cast.intermediate.der, []]),
        ]
        for path in paths {
            let decision = enforced.validate(path, for: "api.example.com", at: Cast.now)
            #expect(decision.verdict == .block)
            #expect(decision.reason == .deniedUndecidable)
            #expect(reported.validate(path, for: "api.example.com", at: Cast.now).reason != .deniedUndecidable)
        }
    }

    @Test("negative numbers, twenty octets after a zero, and more octets than a list has are compared as they stand")
    func negativeNumbersTwentyOctetsAfterAZeroAndMoreOctetsThanAListCanName() throws {
        let long = [0x00] + [UInt8](repeating: 0xab, count: 20)
        let policy = try PinningPolicy(
            domains: [], revoked: [self.revoked("80", "00" + String(repeating: "ab", count: 20), "00")])
        for serial in [[0x80], long, [0x00]] {
            #expect(policy.validate(self.path(serial: serial), for: "a.example", at: Cast.now).reason == .revoked)
        }
        for serial in [[0x00, 0x80], [UInt8](repeating: 0xab, count: 20), [UInt8](repeating: 0x11, count: 65)] {
            #expect(policy.validate(self.path(serial: serial), for: "a.example", at: Cast.now).reason == .notPinned)
        }
    }

    @Test(
        "what is no serial number",
        arguments: [
            "", "0", "0A", "0x1f", "1f ", " 1f", "0g", "0001", "007f", "ff80", "ffff", "\u{ff11}\u{ff11}", "1f:2e",
            String(repeating: "11", count: 65),
        ])
    func whatIsNoSerialNumber(text: String) {
        #expect(throws: InputError(.serial, "")) { try SerialNumber(text) }
    }

    @Test("the decision as text and as JSON names issuer, serial number and place")
    func decisionAsTextAndAsJSONNamesIssuerSerialNumberAndPlace() throws {
        let policy = try PinningPolicy(domains: [self.entry()], revoked: [self.revoked("0a1b")])
        let decision = policy.validate(self.path(serial: [0x0a, 0x1b]), for: "api.example.com", at: Cast.now)
        #expect(decision.description.contains("<- revoked"))
        let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(decision)) as? [String: Any]
        let revoked = try #require(json?["revoked"] as? [String: Any])
        #expect(json?["reason"] as? String == "revoked")
        #expect(revoked["serial"] as? String == "0a1b")
        #expect(revoked["issuer"] as? String == Cast.intermediate.pin.description)
        #expect(revoked["index"] as? Int == 0)
        let reporting = policy.reportingOnly.validate(
            self.path(serial: [0x0a, 0x1b]), for: "api.example.com", at: Cast.now)
        #expect(reporting.verdict == .allow)
        let first = reporting.description.split(separator: "\n").first
        #expect(first?.hasSuffix("is revoked; this is only reported.") == true)
    }
}
