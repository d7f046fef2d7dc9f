// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Testing

@_spi(Tools) @testable import CertificateTransparency

/// The chains that well-known servers presented in 2023 and 2024, the log lists of those days, and answers that another
/// implementation worked out.
@Suite("Timestamps of the public web", .enabled(if: PublishedVectors.isPresent, "\(PublishedVectors.missing)"))
struct RealChainTests {
    /// Long after all of them.
    private static let later = Timestamp(secondsSince1970: 1_780_000_000)

    private struct ExpectedTimestamps: Decodable {
        struct One: Decodable {
            let operatorName: String
            let log: String
            let holds: Bool
            let time: String
            let kind: String

            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                self.operatorName = try container.decode(String.self)
                self.log = try container.decode(String.self)
                self.holds = try container.decode(Bool.self)
                self.time = try container.decode(String.self)
                self.kind = try container.decode(String.self)
            }
        }
        let file: String
        let scts: [One]
    }

    @Test("each timestamp of 153 chains is of the expected log, operator, kind and time, and holds as expected")
    func eachTimestampOf153ChainsIsOfTheExpectedLogOperatorKindAndTime() throws {
        let logs = try PublishedVectors.allLogs()
        let expected = try PublishedVectors.expected("EXPECTED-SCT.json", as: [ExpectedTimestamps].self)
        #expect(expected.count == 153)
        var count = 0
        for one in expected {
            let chain = try PublishedVectors.chain(one.file)
            let evidence = TransparencyEvidence(of: chain[0], issuedBy: chain[1], logs: logs)
            #expect(evidence.defect == nil && evidence.unknownVersions == 0, "\(one.file)")
            let evaluated = evidence.evaluation(under: .chrome, at: Self.later).timestamps
            try #require(evaluated.count == one.scts.count && evidence.findings.count == one.scts.count)
            for ((finding, evaluated), expected) in zip(zip(evidence.findings, evaluated), one.scts) {
                guard case .verified(let timestamp, let log) = finding else {
                    Issue.record("\(one.file): \(finding)")
                    continue
                }
                #expect(expected.holds && evaluated.status == .valid)
                #expect(evaluated.operatorName == expected.operatorName && log.name == expected.log)
                #expect(evaluated.log == log.id.description && log.kind.rawValue == expected.kind)
                #expect(evaluated.timestamp == (try Timestamp(expected.time.prefix(19) + "Z")))
                let written = String((expected.time.dropFirst(20) + "000").prefix(3))
                #expect(timestamp.milliseconds % 1_000 == UInt64(written), "\(one.file)")
                count += 1
            }
        }
        #expect(count == 401)
    }

    private struct ExpectedPolicy: Decodable {
        let file: String
        let lifetimeDays: Int64
        let listAtIssue: String
        let chromeAtIssue: Bool
        let appleRulesAtIssue: Bool
        let listOldest: String
        let chromeOldest: Bool
        let appleRulesOldest: Bool
    }

    @Test("both policies say of each chain what they should, with each list that is here")
    func bothPoliciesSayOfEachChainWhatTheyShouldWithEachListThatIsHere() throws {
        let lists = try PublishedVectors.lists()
        #expect(lists.count == 15)
        var compared = 0
        for one in try PublishedVectors.expected("EXPECTED-CT-POLICY.json", as: [ExpectedPolicy].self) {
            let chain = try PublishedVectors.chain(one.file)
            for (version, chrome, apple) in [
                (one.listOldest, one.chromeOldest, one.appleRulesOldest),
                (one.listAtIssue, one.chromeAtIssue, one.appleRulesAtIssue),
            ] {
                guard let logs = lists[version] else { continue }
                let evidence = TransparencyEvidence(of: chain[0], issuedBy: chain[1], logs: logs)
                #expect((evidence.lifetime + 86_399) / 86_400 == one.lifetimeDays, "\(one.file)")
                for (policy, expected) in [(TransparencyPolicy.chrome, chrome), (.apple, apple)] {
                    let evaluation = evidence.evaluation(under: policy, at: Self.later)
                    #expect(evaluation.isSatisfied == expected, "\(one.file), \(version): \(evaluation)")
                    compared += 1
                }
            }
        }
        #expect(compared == 2 * (153 + 4))
    }

    @Test("with another issuer, or one bit of the certificate changed, no timestamp holds")
    func withAnotherIssuerOrOneBitOfTheCertificateChangedNoTimestampHolds() throws {
        let logs = try PublishedVectors.allLogs()
        for one in try PublishedVectors.expected("EXPECTED-SCT.json", as: [ExpectedTimestamps].self).prefix(20) {
            let chain = try PublishedVectors.chain(one.file)
            var changed = chain[0]
            let fields = try CertificateFields(walking: changed)
            changed[fields.serialNumber.upperBound - 1] ^= 1
            for evidence in [
                TransparencyEvidence(of: chain[0], issuedBy: chain[0], logs: logs),
                TransparencyEvidence(of: changed, issuedBy: chain[1], logs: logs),
            ] {
                let evaluation = evidence.evaluation(under: .chrome, at: Self.later)
                #expect(!evaluation.isSatisfied && evaluation.timestamps.count == one.scts.count)
                #expect(evaluation.timestamps.allSatisfy { $0.status == .invalidSignature })
            }
        }
    }

    @Test("no list has a trap, each is stale today, and none was on its day")
    func noListHasATrapEachIsStaleTodayAndNoneWasOnItsDay() throws {
        for list in try PublishedVectors.lists().values {
            let made = try #require(list.timestamp)
            #expect(list.traps.isEmpty && list.isStale(at: Self.later) && !list.isStale(at: made))
            let last = Timestamp(secondsSince1970: made.secondsSince1970 + LogList.maximumAge)
            #expect(!list.isStale(at: last))
            #expect(list.isStale(at: Timestamp(secondsSince1970: last.secondsSince1970 + 1)))
        }
    }
}
