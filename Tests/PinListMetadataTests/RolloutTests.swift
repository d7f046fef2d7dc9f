// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinningTesting
import Testing

@Suite("From a list to the rules of one installation")
struct RolloutTests {
    private func installation(_ seed: UInt64) throws -> InstallationID {
        var random = SeededGenerator(seed: seed)
        return try #require(InstallationID(random.bytes(16)))
    }

    private func list(_ domains: [PinList.Domain], reportTo: [String] = []) -> PinList {
        PinList(
            name: "com.example.app", version: 7, issuedAt: Story.start, expiresAt: Story.after(days: 60),
            reportTo: reportTo, domains: domains)
    }

    @Test(
        "an installation's place is what Python makes of the specification",
        .enabled(if: Python.installed != nil, "there is no python3 on PATH to compare with"))
    func installationsPlaceIsWhatPythonMakesOfTheSpecification() async throws {
        var random = SeededGenerator(seed: 12)
        var lines: [String] = []
        var places: [String] = []
        for number in 0..<500 {
            let bytes = number == 0 ? [UInt8](repeating: 0, count: 16) : random.bytes(16)
            let id = try #require(InstallationID(bytes))
            let host = try HostName("host-\(random.next() % 1_000).example.com")
            lines.append("\(Hexadecimal.text(of: bytes)) list-\(number) \(host)")
            places.append(String(id.place(in: "list-\(number)", host)))
        }
        let script = """
            import hashlib, sys
            for line in sys.stdin.read().split("\\n"):
                id, name, domain = line.split(" ")
                digest = hashlib.sha256(bytes.fromhex(id) + b"\\0" + name.encode() + b"\\0" + domain.encode()).digest()
                print(int.from_bytes(digest[:8], "big") % 100)
            """
        let theirs = try await Python.run(script, input: Array(lines.joined(separator: "\n").utf8))
        #expect(theirs.split(separator: "\n").map(String.init) == places)
        #expect(Set(places).count > 90)
    }

    @Test("16 bytes, or no installation")
    func of16BytesOrNoInstallation() {
        for count in [0, 15, 17, 32] { #expect(InstallationID([UInt8](repeating: 1, count: count)) == nil) }
    }

    @Test(
        "below its share it enforces, from its share on it only reports; one that cannot be kept enforces at 100 alone")
    func belowItsShareItEnforcesFromItsShareOnItOnlyReports() throws {
        let installation = try self.installation(3)
        var domain = try Story.entry("api.example.com")
        let place = Int(installation.place(in: "com.example.app", domain.entry.domain))
        for rollout in [0, place, place + 1, 100] {
            domain.rollout = rollout
            for (id, isIn) in [(installation, rollout > place), (nil, rollout == 100)] as [(InstallationID?, Bool)] {
                let policy = try self.list([domain]).policy(for: id, isStale: false)
                let entry = try #require(policy.entry(for: domain.entry.domain))
                #expect(entry.isInRollout == isIn)
                #expect(entry.isEnforced == isIn)
            }
        }
    }

    @Test("an entry's own report addresses replace those of the list")
    func entrysOwnReportAddressesReplaceThoseOfTheList() throws {
        let own = "https://own.example.com/"
        let general = "https://list.example.com/"
        var first = try Story.entry("a.example.com")
        first.entry.reportTo = [own]
        let second = try Story.entry("b.example.com")
        let policy = try self.list([first, second], reportTo: [general]).policy(for: nil, isStale: false)
        #expect(policy.entry(for: first.entry.domain)?.reportTo == [own])
        #expect(policy.entry(for: second.entry.domain)?.reportTo == [general])
    }

    /// A path that matches the backup pin of every entry.
    private let matching = SketchedPath.matching
    private let other = SketchedPath.other

    @Test("a stale list: enforced, only reported, or denied, as the app chose; entries that are off stay off")
    func staleListEnforcedOnlyReportedOrDeniedAsTheAppChoseEntriesThatAreOffStayOff() throws {
        var on = try Story.entry("on.example.com")
        on.entry.pins = [KnownPin(SketchedPath.pin)]
        var off = try Story.entry("off.example.com")
        off.entry.mode = .off
        var partly = on
        partly.entry.domain = try HostName("partly.example.com")
        partly.rollout = 0
        let list = self.list([on, off, partly])
        typealias Expected = (whenStale: PinList.WhenStale, good: PinningDecision.Verdict, bad: PinningDecision.Verdict)
        for expected in [(.enforce, .allow, .block), (.report, .allow, .allow), (.deny, .block, .block)] as [Expected] {
            let policy = try list.policy(for: nil, isStale: true, whenStale: expected.whenStale)
            #expect(policy.list == ListIdentity(name: "com.example.app", version: 7, stale: true))
            #expect(policy.validate(self.matching, for: "on.example.com", at: Story.start).verdict == expected.good)
            #expect(policy.validate(self.other, for: "on.example.com", at: Story.start).verdict == expected.bad)
            #expect(policy.validate(self.other, for: "off.example.com", at: Story.start).verdict == .allow)
            let partly = policy.validate(self.other, for: "partly.example.com", at: Story.start).verdict
            #expect(partly == (expected.whenStale == .deny ? .block : .allow))
        }
        // The pin is right: what is wrong is the list's end, and the refusal says so.
        let denying = try list.policy(for: nil, isStale: true, whenStale: .deny)
        let refusal = denying.validate(self.matching, for: "on.example.com", at: Story.start).description
        #expect(refusal.contains("The list has expired"), "\(refusal)")
        // The choice is for stale lists alone.
        let fresh = try list.policy(for: nil, isStale: false, whenStale: .deny)
        #expect(fresh.validate(self.matching, for: "on.example.com", at: Story.start).verdict == .allow)
        #expect(fresh.list?.stale == false)
    }

    @Test("suspensions, the deny set and the rule for unlisted hosts go along, stale or not")
    func suspensionsTheDenySetAndTheRuleForUnlistedHostsGoAlongStaleOrNot() throws {
        var list = self.list([try Story.entry("api.example.com")])
        list.unlisted = .deny
        list.denied = [DeniedKey(SketchedPath.pin)]
        list.suspended = [Suspension(.everything, until: Story.after(hours: 1), reason: "incident")]
        let policy = try list.policy(for: nil, isStale: true, whenStale: .deny)
        #expect(policy.validate(self.matching, for: "x.example", at: Story.start).reason == .deniedKey)
        #expect(policy.validate(self.other, for: "x.example", at: Story.start).reason == .suspended)
        #expect(policy.validate(self.other, for: "x.example", at: Story.after(hours: 1)).reason == .unlistedDenied)
    }

    @Test("a list made in code that no payload could hold is refused as rules")
    func listMadeInCodeThatNoPayloadCouldHoldIsRefusedAsRules() throws {
        let list = self.list([try Story.entry("a.example"), try Story.entry("a.example")])
        #expect(throws: InputError(.policy, "")) { try list.policy(for: nil, isStale: false) }
    }
}

/// Two paths of one certificate each: bytes that have the frame of one.
enum SketchedPath {
    /// A certificate with nothing in it but a key.
    private static func certificate(_ number: UInt8) -> [UInt8] {
        func element(_ tag: UInt8, _ contents: [UInt8]...) -> [UInt8] {
            let bytes = contents.flatMap { $0 }
            return [tag, UInt8(bytes.count)] + bytes
        }
        let key = element(0x30, element(0x30), element(0x03, [0, number]))
        let body = element(
            0x30, element(0x02, [1]), element(0x30), element(0x30), element(0x30), element(0x30), key)
        return element(0x30, body, element(0x30), element(0x03, [0]))
    }

    static let matching = ValidatedPath(uncheckedValidatedPath: [Self.certificate(1)])
    static let other = ValidatedPath(uncheckedValidatedPath: [Self.certificate(2)])

    /// The pin of the first one's key.
    static let pin = Self.matching.publicKeyPins[0] ?? Story.pin(99)
}
