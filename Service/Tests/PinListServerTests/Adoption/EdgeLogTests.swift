// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("The log of a cache")
struct EdgeLogTests {
    private static let digest = String(repeating: "a", count: 64)
    private static let path = "/v1/lists/a/pins.json"

    private func log(_ text: String) -> EdgeLog {
        var log = EdgeLog(versions: ["a": [Self.digest: 1]])
        log.read(part: Array(text.utf8))
        log.finish()
        return log
    }

    private func line(
        _ time: String = "2026-11-21T00:00:00Z", status: String = "200", path: String = Self.path,
        tag: String = #"\""# + Self.digest + #"\""#
    ) -> String {
        "{\"time\": \"\(time)\", \"ifNoneMatch\": \"\(tag)\", \"status\": \(status), \"path\": \"\(path)\"}\n"
    }

    @Test("time zones as nginx and CDNs write them, a status that is a text, and a query are understood")
    func timeZonesAsNginxAndCDNsWriteThemAStatusThatIsATextAndAQueryAreUnderstood() async throws {
        let lines = [
            self.line(), self.line("2026-11-21T01:00:00+01:00"), self.line("2026-11-20T19:30:00-05:00"),
            self.line(status: "304"), self.line(status: "\"304\""), self.line(path: Self.path + "?x=1"),
            self.line(tag: #"W/\""# + Self.digest + #"-gzip\""#),
        ]
        let log = self.log(lines.joined())
        #expect((log.counted, log.others, log.unreadable) == (7, 0, 0))
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            #expect(try await store.add(log, digest: "d", named: "f", at: TurnedClock.start))
            let key = ListRequestKey(name: "a", hour: TurnedClock.start.hour, source: .log, digest: Self.digest)
            #expect(try await store.read { try $0.listRequests(of: "a", since: 0) } == [key: 7])
        }
    }

    @Test("other paths, other answers and other lists are passed over")
    func otherPathsOtherAnswersAndOtherListsArePassedOver() {
        let lines = [
            self.line(path: "/v1/lists/a/root/1.json"), self.line(path: "/"), self.line(path: "/v1/lists/b/pins.json"),
            self.line(path: "/v1/lists/a/pins.json/x"), self.line(path: "/V1/lists/a/pins.json"),
            self.line(status: "404"), self.line(status: "503"), self.line(path: "/x/../v1/lists/a/pins.json"),
        ]
        let log = self.log(lines.joined())
        #expect((log.counted, log.others, log.unreadable) == (0, 8, 0))
    }

    @Test("tags that were never published are not told apart, and a missing tag counts for none")
    func tagsThatWereNeverPublishedAreNotToldApartAndAMissingTagCountsForNone() async throws {
        let log = self.log(
            self.line(tag: #"\"b\""#) + self.line(tag: "") + self.line(tag: "-")
                + "{\"time\": \"2026-11-21T00:00:00Z\", \"status\": 200, \"path\": \"\(Self.path)\"}\n")
        #expect(log.counted == 4)
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            #expect(try await store.add(log, digest: "d", named: "f", at: TurnedClock.start))
            let counts = try await store.read { try $0.listRequests(of: "a", since: 0) }
            #expect(counts.map { "\($0.key.digest) \($0.value)" }.sorted() == [" 3", "other 1"])
        }
    }

    @Test("lines that cannot be read are counted once each, however long; no end of one is read as another")
    func linesThatCannotBeReadAreCountedOnceEachHoweverLongNoEndOfOneIsReadAsAnother() {
        let long = "{\"x\": \"" + String(repeating: "y", count: EdgeLog.lineBytes) + "\"} " + self.line()
        let lines = [
            "nonsense\n", "{}\n", "[]\n", self.line("yesterday"), long, self.line(), "\r\n", "\n",
            String(self.line().dropLast()),
        ]
        let log = self.log(lines.joined())
        #expect((log.counted, log.others, log.unreadable) == (2, 0, 5))
    }

    @Test(
        "wherever the parts of the file begin and end, the lines are the same", arguments: [1, 7, 64, 16_384, 65_536])
    func whereverThePartsOfTheFileBeginAndEndTheLinesAreTheSame(_ length: Int) {
        let text = (0..<300).map { self.line(status: $0 % 3 == 0 ? "404" : "200") }.joined()
        let bytes = Array((text + String(repeating: "z", count: 40_000) + "\n" + self.line()).utf8)
        var log = EdgeLog(versions: ["a": [Self.digest: 1]])
        var rest = bytes[...]
        while !rest.isEmpty {
            log.read(part: Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        log.finish()
        #expect((log.counted, log.others, log.unreadable) == (201, 100, 1))
    }

    @Test("a file is added once, and the audit log says so")
    func fileIsAddedOnceAndTheAuditLogSaysSo() async throws {
        let repository = try RepositorySimulator.story()
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "cli", at: TurnedClock.start)
            var log = try await store.edgeLog()
            let digest = Envelope.digest(of: repository.lists[0])
            let line = self.line(path: "/v1/lists/com.example.app/pins.json", tag: #"\""# + digest + #"\""#)
            log.read(part: Array(line.utf8))
            let read = log
            for (file, isNew) in [("one", true), ("one", false), ("two", true)] {
                #expect(
                    try await store.add(read, digest: file, named: "access.log", at: TurnedClock.start) == isNew)
            }
            let key = ListRequestKey(
                name: "com.example.app", hour: TurnedClock.start.hour, source: .log, digest: digest)
            #expect(try await store.read { try $0.listRequests(of: "com.example.app", since: 0) } == [key: 2])
            let details = try await store.read { try $0.auditEntries(from: 3, limit: 9).map(\.detail) }
            #expect(details == ["access.log: 1 requests, one", "access.log: 1 requests, two"])
        }
    }
}
