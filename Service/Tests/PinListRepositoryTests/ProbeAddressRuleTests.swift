// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinListRepository
import Testing

@Suite("The state of a host of which one address differs from the others", .needsOpenSSL)
struct ProbeAddressRuleTests {
    /// An old and a new key of one host, both pinned, and a strange one.
    private struct Servers {
        let host: HostName
        let rules: ProbeRules
        let old: ProbeObservation
        let new: ProbeObservation
        let strange: ProbeObservation
    }

    private func withServers(_ body: (Servers) throws -> Void) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await openssl.makeCertificate(
                "root", subject: "/CN=root", extensions: ["basicConstraints=critical,CA:TRUE"], in: folder)
            var paths: [ValidatedPath] = []
            for name in ["old", "new", "strange"] {
                try await openssl.makeCertificate(name, subject: "/CN=\(name)", issuedBy: "root", in: folder)
                let certificates = try ["\(name).pem", "root.pem"].flatMap { file in
                    try PEMBlock.blocks(in: Array(try folder.contents(of: file))).map(\.bytes)
                }
                paths.append(ValidatedPath(uncheckedValidatedPath: certificates))
            }
            let host = try HostName("api.example.com")
            let now = Date().timeIntervalSince1970 + 60
            let pins = paths.prefix(2).compactMap { $0.publicKeyPins[0] }.map { KnownPin($0) }
            let list = PinList(
                name: "com.example.app", version: 1, issuedAt: Timestamp(roundingDown: now),
                expiresAt: Timestamp(roundingDown: now + 86_400),
                domains: [PinList.Domain(PinnedDomain(host, pins: pins))])
            let rules = try ProbeRules(list, at: Timestamp(roundingDown: now), notice: 3_600)
            try body(
                Servers(
                    host: host, rules: rules, old: .validated(paths[0]), new: .validated(paths[1]),
                    strange: .validated(paths[2])))
        }
    }

    /// The state of a host with addresses that were found so, in turn.
    private func evaluate(
        _ servers: Servers, _ observations: [ProbeObservation], noRoute: Int = 0, _ memory: inout ProbeMemory
    ) -> ProbedHost {
        let asked = observations.enumerated().map { AddressObservation(address: "192.0.2.\($0):443", $1) }
        let unasked = (0..<noRoute).map {
            AddressObservation(address: "[2001:db8::\($0)]:443", .unreachable("no connection"), hasNoRoute: true)
        }
        return servers.rules.evaluate(servers.host, asked + unasked, &memory)
    }

    @Test("the host is as its worst address, wherever that stands, and each address is named")
    func hostIsAsItsWorstAddressWhereverThatStandsAndEachAddressIsNamed() async throws {
        try await self.withServers { servers in
            let silent = ProbeObservation.unreachable("connection refused")
            for (observations, state) in [
                ([servers.old, servers.old, servers.old], .well), ([servers.old, servers.new], .well),
                ([servers.old, servers.strange], .locksOut), ([servers.strange, servers.old], .locksOut),
                ([servers.old, silent], .unknown), ([silent, servers.old], .unknown),
                ([silent, servers.strange], .locksOut), ([silent, silent], .unknown), ([], .unknown),
            ] as [([ProbeObservation], ProbedHost.State)] {
                var memory = ProbeMemory()
                let host = self.evaluate(servers, observations, &memory)
                #expect(host.state == state, "\(observations.count), \(host.notes)")
                #expect(host.addresses.map(\.address) == observations.indices.map { "192.0.2.\($0):443" })
                let isMixed = Set(observations).count > 1
                #expect(host.notes.filter { $0.hasPrefix("192.0.2.") }.count == (isMixed ? observations.count : 0))
            }
        }
    }

    @Test("an address that this machine has no route to decides nothing, unless no other was asked")
    func addressThatThisMachineHasNoRouteToDecidesNothingUnlessNoOtherWasAsked() async throws {
        try await self.withServers { servers in
            var memory = ProbeMemory()
            let well = self.evaluate(servers, [servers.old], noRoute: 1, &memory)
            #expect(well.state == .well && well.addresses.count == 2)
            #expect(well.notes.contains("[2001:db8::0]:443: could not be asked: no connection"), "\(well.notes)")
            #expect(self.evaluate(servers, [servers.strange], noRoute: 1, &memory).state == .locksOut)
            #expect(self.evaluate(servers, [], noRoute: 2, &memory).state == .unknown)
            #expect(self.evaluate(servers, [.unreachable("reset")], noRoute: 1, &memory).state == .unknown)
        }
    }

    @Test("a pin that was seen at any address was seen, and two addresses are no change of the issuer")
    func pinThatWasSeenAtAnyAddressWasSeenAndTwoAddressesAreNoChangeOfTheIssuer() async throws {
        try await self.withServers { servers in
            var memory = ProbeMemory()
            let first = self.evaluate(servers, [servers.old, servers.new], &memory)
            #expect(first.issuerChanged == nil)
            // Both pins are served, at one address each: neither is a backup, at the first look either.
            let backup = first.notes.filter { $0.contains("backup") }
            #expect(backup == ["no backup: every pin of the entry is in a path that is served now"], "\(first.notes)")
            let second = self.evaluate(servers, [servers.old], &memory)
            #expect(second.issuerChanged == false && second.notes.isEmpty, "\(second.notes)")
            let third = self.evaluate(servers, [servers.new, servers.old], &memory)
            #expect(third.issuerChanged == false)
        }
    }
}
