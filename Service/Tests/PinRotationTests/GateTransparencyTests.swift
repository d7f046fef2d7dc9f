// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CertificateTransparency
import PinListMetadata
import PinRotation
import Testing

@Suite("The gate, where clients ask for Certificate Transparency")
struct GateTransparencyTests {
    /// A chain whose key is pinned, and whose certificate no log ever saw.
    private static let unlogged = GateMaterial.path(FramedCertificate.path(2, 7))

    /// A log list without any log, of so many days ago.
    private static func logs(_ days: Int64 = 1) throws -> (KnownLogs, ListedLogs?) {
        let time = Timestamp(secondsSince1970: GateScene.now.secondsSince1970 - days * GateScene.day)
        let file = Array(#"{"version": "1.1", "log_list_timestamp": "\#(time)", "operators": []}"#.utf8)
        return (.known(try LogList(file)), ListedLogs(of: file))
    }

    private static func list(
        _ version: Int64, _ mode: TransparencyRule.Mode?, rollout: Int = 100, namesLogs: Bool = true
    ) throws -> PinList {
        let named = try Self.logs().1
        return try GateScene.list(version, [2]) {
            $0.domains[0].entry.transparency = mode.map { TransparencyRule($0, .chrome) }
            $0.domains[0].rollout = rollout
            $0.logs = namesLogs ? named : nil
        }
    }

    @Test("a renewed certificate that no log knows is unsafe: clients that enforce the policy refuse it")
    func renewedCertificateThatNoLogKnowsIsUnsafeClientsThatEnforceThePolicyRefuseIt() throws {
        var scene = GateScene(byTime: try Self.list(1, .enforce))
        scene.logs = try Self.logs().0
        let answer = try scene.answer(Self.unlogged)
        #expect(answer.verdict == .unsafe && answer.reason.contains("Certificate Transparency"), "\(answer)")
    }

    @Test("an older list that enforces the policy counts as refusing, as far as its rollout goes")
    func olderListThatEnforcesThePolicyCountsAsRefusingAsFarAsItsRolloutGoes() throws {
        let new = try Self.list(2, nil)
        var byTime = GateScene(byTime: try Self.list(1, .enforce), new)
        byTime.logs = try Self.logs().0
        #expect(try byTime.answer(Self.unlogged).verdict == .unknown)
        for (rollout, share) in [(100, 0.02), (50, 0.01)] {
            let old = try Self.list(1, .enforce, rollout: rollout)
            var counted = GateScene(counted: (old, 20), (new, 980), of: 1_000)
            counted.logs = try Self.logs().0
            let answer = try counted.answer(Self.unlogged)
            #expect(answer.refusing.share == share, "\(answer)")
            #expect(answer.verdict == (rollout == 100 ? .unsafe : .safe), "\(answer)")
        }
    }

    @Test("without the log list, and by a key alone, nothing is known, which is not safe")
    func withoutTheLogListAndByAKeyAloneNothingIsKnownWhichIsNotSafe() throws {
        var scene = GateScene(byTime: try Self.list(1, .enforce))
        let missing = try scene.answer(Self.unlogged)
        #expect(missing.verdict == .unknown && missing.reason.contains("the log list"), "\(missing)")
        for logs in [KnownLogs.missing, try Self.logs().0] {
            scene.logs = logs
            let key = try scene.answer(.key(FramedCertificate.pin(2)), lifetimes: [])
            #expect(key.verdict == .unknown && key.reason.contains("a whole chain is needed"), "\(key)")
        }
    }

    @Test("a rotation asks for the chain where a key does not say enough, so that it is not led back for want of one")
    func rotationAsksForTheChainWhereAKeyDoesNotSayEnough() throws {
        let known = try Self.logs().0
        let needsIssuer = try GateScene.list(1, [2, 7]) {
            $0.domains[0].entry.pins[1].position = .issuer
            $0.domains[0].entry.requireIssuer = true
        }
        for (list, logs, needsChain) in [
            (try Self.list(1, .enforce), known, true), (try Self.list(1, .enforce), .missing, true),
            (needsIssuer, .missing, true), (try Self.list(1, .enforce), try Self.logs(71).0, false),
            (try Self.list(1, .report), known, false), (try Self.list(1, nil), .missing, false),
        ] {
            let rules = try GateRules(
                newest: [list], holders: GateScene(byTime: list).holders, logs: { _ in logs }, at: GateScene.now)
            let host = try HostName("api.example.com")
            #expect(rules.needsChain(of: FramedCertificate.pin(2), for: host) == needsChain)
        }
    }

    @Test("what clients do not enforce refuses nothing: a report, a list without log list, a log list of 71 days")
    func whatClientsDoNotEnforceRefusesNothing() throws {
        let known = try Self.logs().0
        for (list, logs) in [
            (try Self.list(1, .report), known), (try Self.list(1, .report), .missing),
            (try Self.list(1, .enforce, namesLogs: false), known), (try Self.list(1, .enforce), try Self.logs(71).0),
            (try Self.list(1, nil), .missing),
        ] {
            var scene = GateScene(byTime: list)
            scene.logs = logs
            for material in [Self.unlogged, .key(FramedCertificate.pin(2))] {
                let answer = try scene.answer(material, lifetimes: material == Self.unlogged ? [GateScene.long] : [])
                #expect(answer.verdict == .safe, "\(answer)")
            }
        }
        var reporting = GateScene(byTime: try Self.list(1, .report))
        reporting.logs = known
        #expect(try reporting.answer(Self.unlogged).reason.contains("which it reports and does not refuse"))
    }
}
