// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import Testing

@testable import tumbler

@Suite("Probing the hosts of a list")
struct ProbeCommandTests {
    @Test("all is well: the pin that matches, the days of each certificate, the backup that no server presents")
    func allIsWellThePinThatMatchesTheDaysOfEachCertificateTheBackupThatNoServerPresents() async throws {
        try await ProbeScene.with { scene in
            try scene.publish()
            let run = try await scene.probe()
            run.expectResult()
            let first = try #require(run.lines.first)
            let pin = try scene.pki.leaf.pin
            #expect(first.hasPrefix("ok      api.example.com  ") && first.contains("pin-match \(pin) at the leaf"))
            #expect(run.lines[1].contains("left: leaf 89 d, issuer 89 d, anchor 89 d"), "\(run)")
            #expect(run.output.contains("1 of 2 pins was ever seen here; backup: 1"), "\(run)")
            #expect(run.lines.last == "com.example.app version 2: 1 ok, 0 fail, 0 end within 30d, 0 not asked")
        }
    }

    @Test("--json has every member for every host, and ends as the words do")
    func jsonHasEveryMemberForEveryHostAndEndsAsTheWordsDo() async throws {
        try await ProbeScene.with { scene in
            try scene.publish()
            let (report, exit) = try await scene.report(["--host", "shop.api.example.com", "--host", "other.example"])
            let host = try #require(report.hosts.first)
            #expect(exit == 1, "the certificate is for one name alone")
            #expect(report.list == PrintedProbe.List(name: "com.example.app", version: 2))
            #expect(report.hosts.map(\.host) == ["api.example.com", "shop.api.example.com", "other.example"])
            #expect(report.hosts.map(\.ok) == [true, false, false])
            #expect(report.hosts.map(\.notedHostname) == ["api.example.com", "api.example.com", nil])
            #expect(host.verdict == "allow" && host.reason == "pin-match" && host.mode == "enforce")
            #expect(host.matched == PrintedDecision.Match(pin: try scene.pki.leaf.pin.description, index: 0))
            #expect(host.path.map(\.pin) == (try scene.pki.path.map { try $0.pin.description }))
            #expect(host.path.map(\.subject) == ["CN=server", "CN=test issuing", "CN=test root"])
            #expect(host.path.map(\.issuer) == ["CN=test issuing", "CN=test root", "CN=test root"])
            #expect(host.daysLeft == 89 && host.issuerChanged == nil && host.error == nil)
            let run = try await scene.probe(["--json"])
            let value = try JSONSerialization.jsonObject(with: run.outputBytes) as? [String: Any]
            let hosts = value?["hosts"] as? [[String: Any]]
            #expect(hosts?.map { Set($0.keys) } == [PrintedProbe.Host.members])
        }
    }

    @Test("no pin matches: clients would be locked out; in report mode none is, and it is said all the same")
    func noPinMatchesClientsWouldBeLockedOutInReportModeNoneIsAndItIsSaidAllTheSame() async throws {
        try await ProbeScene.with { scene in
            try scene.publish([try scene.entry(ProbeScene.host, [ProbeScene.backup])])
            let run = try await scene.probe()
            #expect(run.exitCode == 1, "\(run)")
            #expect(run.output.hasPrefix("FAILS   api.example.com  ") && run.output.contains("no-matching-pin"))
            #expect(run.output.contains("served: \(try scene.pki.leaf.pin)  CN=server, by CN=test issuing"), "\(run)")
            try scene.publish([try scene.entry(ProbeScene.host, [ProbeScene.backup], mode: .report)])
            let reporting = try await scene.probe()
            #expect(reporting.exitCode == 0, "\(reporting)")
            #expect(reporting.output.contains("mode report") && reporting.output.contains("would be refused"))
            try scene.publish([try scene.entry(ProbeScene.host, [], mode: .off)])
            let off = try await scene.probe()
            #expect(off.exitCode == 0 && off.output.contains("mode off"), "\(off)")
        }
    }

    @Test("a rollout to few locks these few out; a suspension holds the refusal back, and that is said")
    func rolloutToFewLocksTheseFewOutASuspensionHoldsTheRefusalBackAndThatIsSaid() async throws {
        try await ProbeScene.with { scene in
            let strange = [try scene.entry(ProbeScene.host, [ProbeScene.backup])]
            try scene.publish(strange) { $0.domains[0].rollout = 5 }
            let few = try await scene.probe()
            #expect(few.exitCode == 1 && few.output.contains("rollout: 5 %"), "\(few)")
            try scene.publish(strange) { $0.domains[0].rollout = 0 }
            #expect(try await scene.probe().exitCode == 0)
            let until = Timestamp(secondsSince1970: TestPKI.now + 3_600)
            try scene.publish(strange) { $0.suspended = [Suspension(.everything, until: until, reason: "incident")] }
            let suspended = try await scene.probe()
            #expect(suspended.exitCode == 0, "\(suspended)")
            #expect(suspended.output.contains("without that it would be refused: no-matching-pin"), "\(suspended)")
            try scene.publish { $0.denied = (try? scene.pki.intermediate.pin).map { [DeniedKey($0)] } ?? [] }
            let denied = try await scene.probe()
            #expect(denied.exitCode == 1 && denied.output.contains("denied-key"), "\(denied)")
        }
    }

    @Test("a certificate that ends in 10 days, the leaf's or another of the path, unless that is soon enough")
    func certificateThatEndsIn10DaysTheLeafsOrAnotherOfThePathUnlessThatIsSoonEnough() async throws {
        try await ProbeScene.with({ pki in
            [try ProbeScene.leaf(by: pki.intermediate, key: pki.leaf, ending: 10), pki.intermediate]
        }) { scene in
            try scene.publish()
            let run = try await scene.probe()
            #expect(run.exitCode == 1, "\(run)")
            #expect(run.output.hasPrefix("ENDS    api.example.com  10 d"), "\(run)")
            #expect(run.output.contains("CN=server ends 2"))
            #expect(try await scene.probe(["--within", "9d"]).exitCode == 0)
            let (report, _) = try await scene.report()
            let host = try #require(report.hosts.first)
            #expect(!host.ok && host.verdict == "allow" && host.daysLeft == 10)
        }
        let pki = try TestPKI([ProbeScene.host])
        let ending = try TestCertificate.authority("ending", by: pki.root) { form in
            form.around(TestPKI.now)
            form.notAfter = TestPKI.now + 20 * 86_400
        }
        let leaf = try ProbeScene.leaf(by: ending, key: pki.leaf)
        try await ProbeScene.with({ _ in [leaf, ending] }) { scene in
            try scene.folder.write(try pki.root.pem, as: "anchors.pem")
            try scene.publish([try scene.entry(ProbeScene.host, [try leaf.pin, ProbeScene.backup])])
            let run = try await scene.probe()
            #expect(run.exitCode == 1 && run.output.contains("CN=ending ends 2"), "\(run)")
        }
    }

    @Test("an expired certificate, one for another name, and an untrusted one lock out, in every mode")
    func expiredCertificateOneForAnotherNameAndAnUntrustedOneLockOutInEveryMode() async throws {
        for (words, chain) in ProbeScene.invalidChains {
            try await ProbeScene.with(chain) { scene in
                for mode in PinnedDomain.Mode.allCases {
                    try scene.publish([try scene.entry(mode: mode)])
                    let (report, exit) = try await scene.report()
                    let host = try #require(report.hosts.first)
                    #expect(exit == 1, "\(words), \(mode)")
                    #expect(host.verdict == "block" && host.reason == "chain-invalid" && !host.ok)
                    #expect(host.path.isEmpty && host.daysLeft == nil && host.issuerChanged == nil)
                    #expect(host.error?.contains(words) == true, "\(host)")
                }
            }
        }
    }

    @Test("an issuer that moved since last time is said once, with both names")
    func issuerThatMovedSinceLastTimeIsSaidOnceWithBothNames() async throws {
        try await ProbeScene.with { scene in
            try scene.publish()
            let (first, _) = try await scene.report()
            #expect(first.hosts.map(\.issuerChanged) == [nil])
            let (same, _) = try await scene.report()
            #expect(same.hosts.map(\.issuerChanged) == [false])
            let other = try TestCertificate.authority("moved issuing", by: scene.pki.root) { $0.around(TestPKI.now) }
            scene.server.identity = try LoopbackServer.Identity([
                try ProbeScene.leaf(by: other, key: scene.pki.leaf), other,
            ])
            let moved = try await scene.probe()
            #expect(moved.exitCode == 0, "\(moved)")
            #expect(moved.output.contains("from CN=test issuing to CN=moved issuing"), "\(moved)")
            let (after, _) = try await scene.report()
            #expect(after.hosts.map(\.issuerChanged) == [false])
        }
    }

    @Test("an earlier observation is remembered: another pin of the entry, and the issuer over a day without an answer")
    func earlierObservationIsRememberedAnotherPinOfTheEntry() async throws {
        try await ProbeScene.with { scene in
            let backup = try ProbeScene.leaf(by: scene.pki.intermediate)
            try scene.publish([try scene.entry(ProbeScene.host, [try scene.pki.leaf.pin, try backup.pin])])
            let (first, _) = try await scene.report()
            #expect(first.hosts.first?.notes == ["1 of 2 pins was ever seen here; backup: 1 that no server shows"])
            scene.server.identity = try LoopbackServer.Identity([backup, scene.pki.intermediate])
            let (second, _) = try await scene.report()
            #expect(second.hosts.first?.notes == [])
            try await LoopbackPort.with(.closed) { port in _ = try await scene.report(at: port) }
            let (third, _) = try await scene.report()
            #expect(third.hosts.map(\.issuerChanged) == [false])
            #expect(third.hosts.first?.notes == [])
        }
    }

    @Test("a host that cannot be asked is not decided; beside one that locks out it counts for less")
    func hostThatCannotBeAskedIsNotDecidedBesideOneThatLocksOutItCountsForLess() async throws {
        try await ProbeScene.with { scene in
            try await LoopbackPort.with(.closed) { port in
                try scene.publish()
                let (report, exit) = try await scene.report(at: port)
                let host = try #require(report.hosts.first)
                #expect(exit == 2)
                #expect(host.verdict == nil && host.reason == nil && !host.ok)
                #expect(host.error?.contains("refused") == true)
                try scene.publish([
                    try scene.entry("gone.example.com"), try scene.entry(ProbeScene.host, [ProbeScene.backup]),
                ])
                let run = try await CommandRun.tumbler(
                    [
                        "probe", "bundled.json", "--root", "root.json", "--cacert", "anchors.pem", "--connect-to",
                        "gone.example.com:443:127.0.0.1:\(port)", "--connect-to",
                        "api.example.com:443:127.0.0.1:\(scene.server.port)",
                    ], in: scene.folder)
                #expect(run.exitCode == 1, "\(run)")
                #expect(run.lines.last?.hasSuffix("0 ok, 1 fail, 0 end within 30d, 1 not asked") == true, "\(run)")
            }
        }
    }

    @Test("many hosts at once, in the order of the list")
    func manyHostsAtOnceInTheOrderOfTheList() async throws {
        let names = (0..<40).map { "h\($0).example.com" }
        let pki = try TestPKI(names)
        try await ProbeScene.with({ _ in pki.chain }) { scene in
            try scene.folder.write(try pki.root.pem, as: "anchors.pem")
            try scene.publish(try names.map { try scene.entry($0, [try pki.leaf.pin]) })
            let (report, exit) = try await scene.report()
            #expect(exit == 0)
            #expect(report.hosts.map(\.host) == names)
            #expect(report.hosts.allSatisfy { $0.notes.contains("no backup: the entry has one pin") })
            #expect(HostObserver.hostsAtOnce == 8)
        }
    }
}
