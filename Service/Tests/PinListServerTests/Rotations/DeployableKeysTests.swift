// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import NIOHTTP1
import PinListMetadata
import PinRotation
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("The keys that are safe to deploy")
struct DeployableKeysTests {
    private static let now = TurnedClock.start
    private static let versions: [String: Int64] = ["one": 1, "two": 2]
    private static let host = "api.example.com"

    private static func entry(
        _ pins: [UInt8], position: KnownPin.Position = .any, requireIssuer: Bool = false
    ) throws -> PinnedDomain {
        PinnedDomain(
            try HostName(host), pins: pins.map { KnownPin(RotationPlan.pin($0), position: position) },
            requireIssuer: requireIssuer)
    }

    private static func list(_ version: Int64, _ pins: [UInt8], rollout: Int = 100) throws -> PinList {
        PinList(
            name: "a", version: version, issuedAt: now, expiresAt: Timestamp(secondsSince1970: 1_900_000_000),
            domains: [PinList.Domain(try entry(pins), rollout: rollout)])
    }

    /// The evaluation of keys 9 and 10 of the newest list, of requests by the digest that they name.
    private func evaluate(
        _ requests: [String: Int64], _ lists: [PinList], entry: PinnedDomain? = nil
    ) throws -> [DeployableKeys.Evaluation] {
        let counts = Dictionary(
            uniqueKeysWithValues: requests.map { digest, count in
                (ListRequestKey(name: "a", hour: Self.now.hour, source: .installation, digest: digest), count)
            })
        let count = HeldCount(counts, versions: Self.versions, window: 43_200, at: Self.now)
        let byVersion = Dictionary(uniqueKeysWithValues: lists.map { ($0.version, $0) })
        let entry = try entry ?? Self.entry([9, 10])
        let keys = DeployableKeys(count, of: [entry], at: Self.now) { byVersion[$0] }
        return entry.pins.map { keys.evaluation(of: $0, in: entry) }
    }

    @Test("the share of those whose list refuses a key, as the gate counts it")
    func shareOfThoseWhoseListRefusesAKeyAsTheGateCountsIt() throws {
        let lists = [try Self.list(1, [9]), try Self.list(2, [9, 10])]
        #expect(try self.evaluate(["one": 100, "two": 900], lists) == [.refused(share: 0), .refused(share: 0.1)])
        // An installation that enforces half of the time refuses half of the time.
        let half = [try Self.list(1, [9], rollout: 50), lists[1]]
        #expect(try self.evaluate(["one": 100, "two": 900], half) == [.refused(share: 0), .refused(share: 0.05)])
        // Digests that the service does not know, and lists that are not at hand, refuse every key.
        #expect(
            try self.evaluate(["one": 100, "two": 850, "made up": 50], lists)
                == [.refused(share: 0.05), .refused(share: 0.15)])
        #expect(
            try self.evaluate(["one": 100, "two": 900], [lists[1]]) == [.refused(share: 0.1), .refused(share: 0.1)])
    }

    @Test("at most one percent is safe, and what was not measured is never safe")
    func atMostOnePercentIsSafeAndWhatWasNotMeasuredIsNeverSafe() throws {
        let lists = [try Self.list(1, [9]), try Self.list(2, [9, 10])]
        func isSafe(_ requests: [String: Int64]) throws -> [Bool] {
            try self.evaluate(requests, lists).map { evaluation in
                HostPins.Pinned(
                    pin: "", position: "any", note: "", service: .neverProbed, probes: [], evaluation: evaluation
                ).isSafe
            }
        }
        #expect(try isSafe(["one": 3, "two": 297]) == [true, true])
        #expect(try isSafe(["one": 4, "two": 296]) == [true, false])
        #expect(try isSafe(["two": 299]) == [false, false])
        let few = try self.evaluate(["two": 299], lists)
        #expect(
            few.allSatisfy { if case .notMeasured(let why) = $0 { why.contains("300") } else { false } }, "\(few)")
    }

    @Test("a key alone does not answer for an issuer's key, or where an issuer must match as well")
    func keyAloneDoesNotAnswerForAnIssuersKeyOrWhereAnIssuerMustMatchAsWell() throws {
        let lists = [try Self.list(2, [9, 10])]
        for entry in [try Self.entry([9], position: .issuer), try Self.entry([9], requireIssuer: true)] {
            let evaluated = try self.evaluate(["two": 900], lists, entry: entry)
            #expect(evaluated.allSatisfy { if case .needsChain = $0 { true } else { false } }, "\(evaluated)")
            #expect(evaluated.count == 1)
        }
    }

    @Test("the page of hosts says which keys are safe to deploy, from the lists that were published")
    func pageOfHostsSaysWhichKeysAreSafeToDeployFromTheListsThatWerePublished() async throws {
        let pins = [KnownPin(RotationPlan.pin(9)), KnownPin(RotationPlan.pin(10))]
        var simulator = try RepositorySimulator.story([PinList.Domain(try Self.entry([9]))])
        let second = try simulator.publishList {
            $0.domains = [PinList.Domain(PinnedDomain($0.domains[0].entry.domain, pins: pins))]
        }
        let repository = simulator
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            for envelopes in [[repository.roots[0], repository.lists[0]], [second]] {
                _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                    envelopes, name: "com.example.app", by: "cli", at: Self.now)
            }
            try await RunningService.with(store, { $0.roots = repository.anchors }) { service in
                let before = try await service.ask(.GET, "/hosts").text
                #expect(before.contains("Safe to deploy: these keys"))
                #expect(before.contains("not measured"))
                #expect(!before.contains("refuse it"))
                func held(_ list: [UInt8], _ count: Int64) -> [ListRequestKey: Int64] {
                    let digest = Envelope.digest(of: list)
                    return [
                        ListRequestKey(
                            name: "com.example.app", hour: Self.now.hour, source: .installation, digest: digest): count
                    ]
                }
                let counts = held(repository.lists[0], 100).merging(held(second, 900)) { $0 + $1 }
                try await store.write { try $0.add(counts) }
                let page = try await service.ask(.GET, "/hosts").text
                #expect(page.contains("measured from 1000 requests of the last 24 hours"))
                #expect(page.contains("<span class=\"faint\">0 % refuse it</span>"))
                #expect(page.contains("<span class=\"faint\">10 % refuse it</span>"))
                #expect(page.components(separatedBy: "</span> safe</span>").count == 2)
                #expect(page.components(separatedBy: "</span> not safe</span>").count == 2)
            }
        }
    }
}
