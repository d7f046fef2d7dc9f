// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import Testing

@testable import tumbler

@Suite("Hosts with several addresses")
struct ProbeAddressTests {
    /// `--connect-to` with these ports of loopback as the addresses of the host.
    private func places(_ ports: [Int]) -> [String] {
        ports.flatMap { ["--connect-to", "\(ProbeScene.host):443:127.0.0.1:\($0)"] }
    }

    private func probe(_ scene: ProbeScene, _ ports: [Int], _ more: [String] = []) async throws -> CommandRun {
        try await CommandRun.tumbler(
            ["probe", "-C", "project", "--roots", "anchors.pem"] + self.places(ports) + more, in: scene.folder)
    }

    /// Three servers of one host: two with the usual key, and a canary with a new one.
    private func withCanary(_ body: (ProbeScene, [Int], TestCertificate) async throws -> Void) async throws {
        try await ProbeScene.with { scene in
            let new = try ProbeScene.leaf(by: scene.pki.intermediate)
            try scene.folder.write(try new.pem + scene.pki.intermediate.pem, as: "new.pem")
            try await LoopbackServer.with(LoopbackServer.Identity(scene.pki.chain)) { second in
                try await LoopbackServer.with(LoopbackServer.Identity([new, scene.pki.intermediate])) { canary in
                    try await body(scene, [scene.server.port, second.port, canary.port], new)
                }
            }
        }
    }

    @Test("a canary in front of everything: one address of three serves the new key; probe and the gate say so")
    func canaryInFrontOfEverythingOneAddressOfThreeServesTheNewKey() async throws {
        try await self.withCanary { scene, ports, new in
            let old = try scene.pki.leaf.pin
            try await scene.makeProject([old.description, ProjectText.pin("b")])
            let gate = [
                "gate", ProbeScene.host, "-C", "project", "--certificate", "new.pem", "--roots", "anchors.pem",
            ]
            // It was not announced: the gate would have kept it away, and probe finds the one address.
            #expect(try await CommandRun.tumbler(gate, in: scene.folder).exitCode == 1)
            let early = try await self.probe(scene, ports)
            #expect(early.exitCode == 1 && early.lines.first?.hasPrefix("FAILS ") == true, "\(early)")
            #expect(
                early.output.contains("127.0.0.1:\(ports[2]): block, no-matching-pin, serves \(try new.pin)"),
                "\(early)")
            #expect(
                early.output.contains("127.0.0.1:\(ports[0]): allow, pin-match, serves \(old)"), "\(early)")
            let report: PrintedProbe = try await self.probe(scene, ports, ["--json"]).decoded()
            let host = try #require(report.hosts.first)
            #expect(report.hosts.count == 1 && !host.ok && host.verdict == "block")
            #expect(host.addresses.map(\.address) == ports.map { "127.0.0.1:\($0)" })
            #expect(host.addresses.map(\.verdict) == ["allow", "allow", "block"])
            #expect(host.addresses.map(\.reason) == ["pin-match", "pin-match", "no-matching-pin"])
            #expect(host.addresses.map(\.pin) == [old, old, try new.pin].map(\.description))
            // Announced yesterday: the newest list accepts it, installed apps do not.
            try scene.addPin(try new.pin)
            #expect(try await scene.release(daysAgo: 1).exitCode == 0)
            #expect(try await CommandRun.tumbler(gate, in: scene.folder).exitCode == 2)
            let held: PrintedProbe = try await self.probe(scene, ports, ["--json"]).decoded()
            #expect(held.hosts.first?.addresses.map(\.refusedBy) == [[], [], [1]])
            #expect(held.hosts.map(\.ok) == [false])
        }
    }

    @Test("announced long ago: the canary and the others are all well, and the gate lets it through")
    func announcedLongAgoTheCanaryAndTheOthersAreAllWellAndTheGateLetsItThrough() async throws {
        try await self.withCanary { scene, ports, new in
            try await scene.makeProject([try scene.pki.leaf.pin.description, ProjectText.pin("b")])
            try scene.addPin(try new.pin)
            #expect(try await scene.release(daysAgo: 31).exitCode == 0)
            let gate = try await CommandRun.tumbler(
                ["gate", ProbeScene.host, "-C", "project", "--certificate", "new.pem", "--roots", "anchors.pem"],
                in: scene.folder)
            #expect(gate.exitCode == 0, "\(gate)")
            let probe = try await self.probe(scene, ports)
            #expect(probe.exitCode == 0 && probe.lines.first?.hasPrefix("ok ") == true, "\(probe)")
            #expect(probe.output.contains("127.0.0.1:\(ports[2]): allow, pin-match, serves \(try new.pin)"))
            // Both issuers are one, whichever address came first.
            let again: PrintedProbe = try await self.probe(scene, ports.reversed(), ["--json"]).decoded()
            #expect(again.hosts.map(\.issuerChanged) == [false])
            #expect(again.hosts.first?.addresses.count == 3)
        }
    }

    @Test("an address that does not answer leaves the host undecided, and never hides one that locks out")
    func addressThatDoesNotAnswerLeavesTheHostUndecidedAndNeverHidesOneThatLocksOut() async throws {
        try await self.withCanary { scene, ports, new in
            try await scene.makeProject([try scene.pki.leaf.pin.description, ProjectText.pin("b")])
            try await LoopbackPort.with(.closed) { closed in
                let undecided = try await self.probe(scene, [ports[0], closed])
                #expect(undecided.exitCode == 2 && undecided.output.hasPrefix("? "), "\(undecided)")
                #expect(undecided.output.contains("127.0.0.1:\(closed): could not be asked"), "\(undecided)")
                #expect(try await self.probe(scene, [closed, ports[2]]).exitCode == 1)
                let report: PrintedProbe = try await self.probe(scene, [closed, ports[0]], ["--json"]).decoded()
                #expect(report.hosts.first?.addresses.map(\.verdict) == [nil, "allow"])
                #expect(report.hosts.first?.verdict == "allow" && report.hosts.first?.ok == false)
            }
        }
    }

    @Test("the same on all addresses is said once")
    func sameOnAllAddressesIsSaidOnce() async throws {
        try await self.withCanary { scene, ports, _ in
            try await scene.makeProject([try scene.pki.leaf.pin.description, ProjectText.pin("b")])
            let probe = try await self.probe(scene, Array(ports.prefix(2)))
            #expect(probe.exitCode == 0 && !probe.output.contains("127.0.0.1"), "\(probe)")
            // A place for every host is no further address of one that has its own.
            let places = self.places([ports[0]]) + ["--connect-to", "::127.0.0.1:\(ports[2])"]
            let own: PrintedProbe = try await CommandRun.tumbler(
                ["probe", "-C", "project", "--roots", "anchors.pem", "--json"] + places, in: scene.folder
            ).decoded()
            #expect(own.hosts.first?.addresses.map(\.address) == ["127.0.0.1:\(ports[0])"])
        }
    }

    @Test("an address without a route says nothing of the certificates of a host: revocations are asked of the others'")
    func addressWithoutARouteSaysNothingOfTheCertificatesOfAHost() async throws {
        try await ProbeScene.with { scene in
            try await scene.makeProject([try scene.pki.leaf.pin.description, ProjectText.pin("b")])
            let words = ["revocations", "-C", "project", "--roots", "anchors.pem"] + self.places([scene.server.port])
            let group = ["--connect-to", "\(ProbeScene.host):443:224.0.0.1:443"]
            let one = try await CommandRun.tumbler(words, in: scene.folder)
            let both = try await CommandRun.tumbler(words + group, in: scene.folder)
            #expect(both.exitCode == one.exitCode, "\(both)")
            #expect(!both.output.contains("224.0.0.1") && !both.errors.contains("224.0.0.1"), "\(both)")
        }
    }

    @Test("an address is its own, and the name of this machine has addresses")
    func addressIsItsOwnAndTheNameOfThisMachineHasAddresses() async throws {
        for text in ["192.0.2.7", "2001:db8::7"] {
            #expect(try await HostAddresses.all(of: HostName(text), within: .seconds(600)) == [text])
        }
        let local = try await HostAddresses.all(of: HostName("localhost"), within: .seconds(600))
        #expect(!local.isEmpty && Set(local).isSubset(of: ["127.0.0.1", "::1"]), "\(local)")
        #expect(local == Set(local).sorted())
    }
}
