// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation
import Testing

@testable import tumbler

@Suite("Drills without a person, with real servers, a real service and real clients")
struct DrillScenarioTests {
    @Test("a lost key: suspended, the pin of the new key added, resumed, and every installation is back")
    func lostKeySuspendedThePinOfTheNewKeyAddedResumedAndEveryInstallationIsBack() async throws {
        try await withTemporaryFolder { folder in
            let (record, told) = try await DrillScene(folder: folder).automatic(.lostKey)
            #expect(record.isOver && record.isGood)
            #expect(DrillStep.allCases.allSatisfy { record.has($0) })
            #expect(
                record.entries.map(\.words) == [
                    "of 8 installations 8 are refused (no-matching-pin 8)",
                    "noticed",
                    "$ tumbler suspend api.example.com --for 2h --reason drill",
                    "tumbler.yaml was changed",
                    "$ tumbler release --yes",
                    "version 3 is served, in which the host is suspended",
                    "of 8 installations 8 get their page (suspended 8)",
                    "cause 1, the server presents a key of which no list has the pin: that is it",
                    "the pin of the new key added",
                    "$ tumbler resume api.example.com",
                    "tumbler.yaml was changed",
                    "$ tumbler release --yes",
                    "version 4 is served",
                    "of 8 installations 8 get their page (pin-match 8)",
                ])
            #expect(told.contains { $0.contains("released com.example.app version 4") })
        }
    }

    @Test("interception: nothing is suspended or published, and the interceptor gets no request")
    func interceptionNothingIsSuspendedOrPublishedAndTheInterceptorGetsNoRequest() async throws {
        try await withTemporaryFolder { folder in
            let record = try await DrillScene(folder: folder).automatic(.strangeCA).record
            #expect(record.isOver && record.isGood && record.interceptedRequests == 0)
            #expect(!record.has(.suspended) && !record.has(.listPublished))
            #expect(
                record.entries.map(\.words) == [
                    "of 8 installations 5 get their page (pin-match 5), 3 are refused (no-matching-pin 3)",
                    "noticed",
                    "cause 2, the connections of some are intercepted, with a certificate of another authority: that is it",
                    "the owner of the network was told, and connections are no longer intercepted",
                    "of 8 installations 8 get their page (pin-match 8)",
                ])
        }
    }

    @Test("a stolen pins key: a root without it, and a list that only the new key signed, bring all installations back")
    func stolenPinsKeyARootWithoutItAndAListThatOnlyTheNewKeySigned() async throws {
        try await withTemporaryFolder { folder in
            let record = try await DrillScene(folder: folder).automatic(.stolenPinsKey).record
            #expect(record.isOver && record.isGood && !record.has(.suspended))
            let words = record.entries.map(\.words)
            #expect(words.first == "of 8 installations 8 are refused (no-matching-pin 8)")
            let published = words.filter { $0.contains(" is served") }
            #expect(
                published == [
                    "another root is served, with other signers of lists", "version 4 is served",
                    "another root is served, with other signers of lists",
                ])
            #expect(words.contains("$ mv next-root.json root/3.json"))
            #expect(words.contains("$ tumbler publish root/2.json"))
            #expect(words.last == "the signer is the new key")
            // With the list of the new key the pages come, while what the thief signs still counts.
            let pages = words.indices.filter { words[$0] == "of 8 installations 8 get their page (pin-match 8)" }
            #expect(pages.count == 2)
        }
    }

    @Test("a wrong list: suspended, the pins of the list before put back, and every installation is back")
    func wrongListSuspendedThePinsOfTheListBeforePutBackAndEveryInstallationIsBack() async throws {
        try await withTemporaryFolder { folder in
            let record = try await DrillScene(folder: folder).automatic(.wrongList).record
            #expect(record.isOver && record.isGood && record.has(.suspended))
            let words = record.entries.map(\.words)
            #expect(words.first == "of 8 installations 8 are refused (no-matching-pin 8)")
            #expect(words.contains("$ tumbler release --yes --allow propagation"))
            #expect(words.last == "of 8 installations 8 get their page (pin-match 8)")
        }
    }

    @Test("a copy has the domains, the name and the times of the project, and nothing that leads out of the machine")
    func copyHasTheDomainsTheNameAndTheTimesOfTheProject() async throws {
        try await withTemporaryFolder { folder in
            let source = try DrillSource(
                copying: try DrillScene(folder: folder).source, host: "API.example.com", pins: [])
            let text = source.text(service: "http://127.0.0.1:1", pinsKey: "keys/pins.pem")
            #expect(source.host.description == "api.example.com")
            for line in ["name: \"com.example.app\"", "validFor: 45d", "refreshAfter: 6h", "propagation: 20d"] {
                #expect(text.contains("\(line)\n"))
            }
            #expect(text.contains("report.example.com"))
            let addresses = text.components(separatedBy: "http").dropFirst()
            #expect(addresses.count == 2 && addresses.allSatisfy { $0.hasPrefix("://127.0.0.1:1") })
            #expect(!text.contains(ProjectText.pin("a")), "a pin of the real host")
        }
    }

    @Test(
        "a host that cannot fail cannot be drilled, and is refused with a hint",
        arguments: ["report.example.com", "www.example.com", "a b", "api.example.org"])
    func hostThatCannotFailCannotBeDrilledAndIsRefusedWithAHint(host: String) async throws {
        try await withTemporaryFolder { folder in
            let source = try DrillScene(folder: folder).source
            let failure = #expect(throws: CommandError.self) {
                _ = try DrillSource(copying: source, host: host, pins: [])
            }
            #expect(failure?.exitCode == .usage)
        }
    }
}
