// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Crypto
import Foundation
import TestData
import Testing

@testable import CertificateTransparency

@Suite("Log lists")
struct LogListTests {
    private let log = TestLog()
    private let other = TestLog()

    private func list(_ bytes: [UInt8]) throws -> LogList { try LogList(bytes) }

    @Test("a list is read: kinds, states, intervals, operators of before, and what is not known is ignored")
    func listIsReadKindsStatesIntervalsOperatorsOfBeforeAndWhatIsNotKnownIsIgnored() throws {
        let first = TestList.log(
            self.log,
            """
            "state": {"retired": {"timestamp": "2026-05-01T00:00:00Z"}, "applauded": 1}, "log_type": "prod", \
            "temporal_interval": {"start_inclusive": "2026-01-01T00:00:00Z", "end_exclusive": "2027-01-01T00:00:00.25Z"}, \
            "previous_operators": [{"name": "Second", "end_time": "2026-03-01T00:00:00Z"}, \
            {"name": "First", "end_time": "2026-02-01T00:00:00Z"}]
            """)
        let list = try self.list(
            TestList.list([first], tiled: [TestList.log(self.other)], members: #""later": [null, {"a": true}]"#))
        #expect(list.timestamp?.description == "2026-11-01T12:00:00Z" && list.logs.count == 2 && list.traps.isEmpty)
        let log = try #require(list[self.log.id])
        #expect(log.kind == .rfc6962 && log.name == "a log" && log.operatorName == "Operator")
        #expect(log.state == .retired(since: try Timestamp("2026-05-01T00:00:00Z")))
        #expect(log.interval == (try Timestamp("2026-01-01T00:00:00Z"))..<(try Timestamp("2027-01-01T00:00:00Z")))
        #expect(log.operatorName(at: try Timestamp("2026-01-31T23:59:59Z")) == "First")
        #expect(log.operatorName(at: try Timestamp("2026-02-01T00:00:00Z")) == "Second")
        #expect(log.operatorName(at: try Timestamp("2026-03-01T00:00:00Z")) == "Operator")
        let tiled = try #require(list[self.other.id])
        #expect(tiled.kind == .tiled && tiled.state == .pending && tiled.interval == nil)
    }

    @Test(
        "each state is read; one of another name makes a log pending",
        arguments: [
            ("pending", TransparencyLog.State.pending), ("qualified", .qualified), ("usable", .usable),
            ("readonly", .readOnly), ("rejected", .rejected), ("frozen", .pending), ("Usable", .pending),
        ])
    func eachStateIsReadOneOfAnotherNameMakesALogPending(name: String, expected: TransparencyLog.State) throws {
        let log = TestList.log(self.log, #""state": {"\#(name)": {"timestamp": "2026-01-01T00:00:00Z"}}"#)
        #expect(try self.list(TestList.list([log])).logs.map(\.state) == [expected])
    }

    @Test("the operators before an operator hold for its logs, unless a log has its own")
    func operatorsBeforeAnOperatorHoldForItsLogsUnlessALogHasItsOwn() throws {
        let before = #""previous_operators": [{"name": "Before", "end_time": "2026-03-01T00:00:00Z"}]"#
        let list = try self.list(
            TestList.list(
                [TestList.log(self.log), TestList.log(self.other, #""previous_operators": []"#)],
                operatorMembers: before))
        #expect(list[self.log.id]?.previousOperators.map(\.name) == ["Before"])
        #expect(list[self.other.id]?.previousOperators.isEmpty == true)
    }

    @Test("two logs with one key are refused, also where one of them is tiled")
    func twoLogsWithOneKeyAreRefusedAlsoWhereOneOfThemIsTiled() {
        let log = TestList.log(self.log)
        #expect(TestList.refusal(of: TestList.list([log, log])) == .duplicate)
        #expect(TestList.refusal(of: TestList.list([log], tiled: [log])) == .duplicate)
    }

    @Test("a log whose id is not the digest of its key is refused")
    func logWhoseIdIsNotTheDigestOfItsKeyIsRefused() {
        #expect(
            TestList.refusal(of: TestList.list([TestList.log(self.log, id: self.other.id.description)])) == .wrongID)
        #expect(TestList.refusal(of: TestList.list([TestList.log(self.log, id: "")])) == .wrongID)
    }

    @Test("an interval that ends before it begins, or at once, is refused", arguments: ["2026-01-01", "2025-12-31"])
    func intervalThatEndsBeforeItBeginsOrAtOnceIsRefused(end: String) {
        let interval =
            #""temporal_interval": {"start_inclusive": "2026-01-01T00:00:00Z", "end_exclusive": "\#(end)T00:00:00Z"}"#
        #expect(TestList.refusal(of: TestList.list([TestList.log(self.log, interval)])) == .interval)
    }

    @Test(
        "what is known must be what it must be",
        arguments: [
            #""state": "usable""#, #""state": {"usable": true}"#, #""state": {"usable": {}}"#,
            #""state": {"usable": {"timestamp": "yesterday"}}"#,
            #""state": {"usable": {"timestamp": "2026-01-01T00:00:00Z"}, "retired": {"timestamp": "2026-01-01T00:00:00Z"}}"#,
            #""temporal_interval": {"start_inclusive": "2026-01-01T00:00:00Z"}"#, #""temporal_interval": []"#,
            #""temporal_interval": {"start_inclusive": "2026-01-01", "end_exclusive": "2027-01-01"}"#,
            #""previous_operators": {}"#, #""previous_operators": [{"name": "A"}]"#, #""url": "", "url": """#,
            #""description": 1.5"#, #""description": 1e9"#, #""state": 0.5"#, #""state": {"usable": 1.5}"#,
            #""state": {"usable": {"timestamp": 1767225600.5}}"#, #""previous_operators": 1.0"#,
            #""temporal_interval": 2.5e3"#, #""x": 1."#, #""x": [1,]"#,
        ])
    func whatIsKnownMustBeWhatItMustBe(member: String) {
        #expect(TestList.refusal(of: TestList.list([TestList.log(self.log, member)])) == .malformed)
    }

    @Test(
        "a number of any kind in a member that is not known is ignored",
        arguments: ["1.5", "-0.25", "1e9", "6.02E+23", "9223372036854775808", #"{"y": [0.5, {"z": 1e-400}]}"#])
    func numberOfAnyKindInAMemberThatIsNotKnownIsIgnored(number: String) throws {
        let unknown = #""x": \#(number)"#
        let log = TestList.log(
            self.log, #""state": {"usable": {"timestamp": "2026-01-01T00:00:00Z", \#(unknown)}}, "# + unknown)
        let list = try self.list(TestList.list([log], operatorMembers: unknown, members: unknown))
        #expect(list.logs.map(\.state) == [.usable])
    }

    @Test(
        "bytes that are no list are refused",
        arguments: [
            "null", "[]", "{}", #"{"operators": {}}"#, #"{"operators": [1]}"#, #"{"operators": [{}]}"#,
            #"{"operators": [{"name": 1}]}"#, #"{"operators": [{"name": "A", "logs": {}}]}"#,
            #"{"operators": [{"name": "A", "logs": [{}]}]}"#, #"{"operators": [], "log_list_timestamp": 5}"#,
            #"{"operators": [{"name": "A", "logs": [{"key": "*", "log_id": ""}]}]}"#, "{", "\u{feff}{}",
            #"{"operators": [], "log_list_timestamp": "2026-11-01T00:00:00.00000000001Z and more"}"#,
        ])
    func bytesThatAreNoListAreRefused(text: String) { #expect(TestList.refusal(of: Array(text.utf8)) == .malformed) }

    @Test("a list of 4 MiB is read, and one of a byte more is not, nor none at all")
    func listOf4MiBIsReadAndOneOfAByteMoreIsNotNorNoneAtAll() throws {
        let small = TestList.list([TestList.log(self.log)])
        let padding = [UInt8](repeating: 0x20, count: LogList.maximumLength - small.count)
        #expect(try self.list(small + padding).logs.count == 1)
        #expect(TestList.refusal(of: small + padding + [0x20]) == .size)
        #expect(TestList.refusal(of: []) == .size)
    }

    @Test("more logs, values or operators of before than are read are refused")
    func moreLogsValuesOrOperatorsOfBeforeThanAreReadAreRefused() {
        let values = #""x": [\#(String(repeating: "0,", count: LogList.maximumValues))0]"#
        #expect(TestList.refusal(of: TestList.list([TestList.log(self.log, values)])) == .malformed)
        let one = #"{"name": "A", "end_time": "2026-01-01T00:00:00Z"}"#
        let operators = [String](repeating: one, count: LogList.maximumPreviousOperators + 1).joined(separator: ",")
        #expect(
            TestList.refusal(of: TestList.list([TestList.log(self.log, #""previous_operators": [\#(operators)]"#)]))
                == .tooMany)
        let logs = (0...UInt64(LogList.maximumLogs)).map { number in
            let key = bigEndian(number, 8)
            return #"{"key": "\#(Base64.encode(key))", "log_id": "\#(LogID(ofKey: key))"}"#
        }
        #expect(TestList.refusal(of: TestList.list(logs)) == .tooMany)
        #expect(TestList.refusal(of: TestList.list(logs.dropLast())) == nil)
    }

    @Test("a list without a time is stale, and one from later is not")
    func listWithoutATimeIsStaleAndOneFromLaterIsNot() throws {
        let undated = try self.list(Array(#"{"operators": []}"#.utf8))
        #expect(undated.isStale(at: Timestamp(secondsSince1970: 0)))
        let list = try self.list(TestList.list([]))
        #expect(!list.isStale(at: Timestamp(secondsSince1970: .min)))
        #expect(list.isStale(at: Timestamp(secondsSince1970: .max)))
    }

    @Test("the two logs whose private keys are public are unknown, in every list")
    func twoLogsWhosePrivateKeysArePublicAreUnknownInEveryList() throws {
        #expect(LogID.traps.count == 2)
        let ids = [LogID](LogID.traps)
        let logs =
            [self.log.log]
            + ids.map { id in
                TransparencyLog(
                    id: id, name: "trap", operatorName: "A trap", previousOperators: [], kind: .tiled, state: .usable,
                    interval: nil, key: self.other.log.key)
            }
        let list = LogList(logs, timestamp: nil)
        #expect(list.logs.map(\.id) == [self.log.id] && Set(list.traps) == LogID.traps)
        #expect(ids.allSatisfy { list[$0] == nil })
        #expect(
            Set(ids.map(\.description)) == [
                "9EGV1vAOLbVUNcrdV3iS5T4VrUFwWPh44U/2uRh0FYk=", "si9+3rWvav5QPeBAgbLXTBJThJL+3yyypSZQPO9TztI=",
            ])
    }

    @Test("a key in another form than its one is a log that is unsupported")
    func keyInAnotherFormThanItsOneIsALogThatIsUnsupported() throws {
        let compressed =
            TestLeaf.element(
                0x30,
                TestLeaf.element(
                    0x30,
                    [0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01] + [
                        0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07,
                    ])
                    + TestLeaf.element(0x03, [0] + Array(self.log.key.publicKey.compressedRepresentation)))
        let cut = Array(self.log.publicKey.dropLast())
        let offCurve = self.log.publicKey.dropLast() + [self.log.publicKey[90] ^ 1]
        let message = Array("message".utf8)
        let signature = Array(try self.log.key.signature(for: message).derRepresentation)
        for key in [compressed, cut, Array(offCurve), self.log.publicKey + [0], [], [0x30]] {
            #expect(
                LogKey(subjectPublicKeyInfo: key).verify(signature, algorithm: [4, 3], over: { message })
                    == .unsupported)
        }
        let key = LogKey(subjectPublicKeyInfo: self.log.publicKey)
        #expect(key.verify(signature, algorithm: [4, 3], over: { message }) == .holds)
        for algorithm in [[4, 1], [5, 3], [2, 3], [0, 0], [8, 4]] as [[UInt8]] {
            #expect(key.verify(signature, algorithm: algorithm, over: { message }) == .unsupported)
        }
    }

    @Test(
        "Google's own example of a list is read: a log without a state, a key that is none, a fraction of a second",
        .enabled(
            if: SharedData.holds(SharedData.transparency), "../shared/data/transparency is not beside the checkout"))
    func googlesOwnExampleOfAListIsReadALogWithoutAStateAKeyThatIsNone() throws {
        let list = try LogList(try PublishedVectors.bytes("ct-go/testdata/loglist3.json"))
        #expect(list.timestamp?.description == "2022-05-06T12:55:11Z")
        #expect(
            list.logs.map(\.state) == [
                .readOnly, .usable, .pending, .usable, .qualified,
                .retired(since: try Timestamp("2016-04-15T00:00:00Z")),
            ])
        #expect(list.logs[2].key.verify([], algorithm: [4, 3], over: { [] }) == .unsupported)
        #expect(list.logs.map(\.operatorName).last == "Bob's CT Log Shop")
    }
}
