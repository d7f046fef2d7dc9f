// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinFailureReports
import PinListClient
import PinListMetadata
import PinningTesting
import Testing

@Suite("Reporting")
struct ReportingTests {
    private static let address = "https://reports.example.com/v1/reports"

    /// A client whose list names a collector, after its first refresh.
    private static func client(
        store: any StateStore = MemoryStore(), collector: SimulatedCollector
    ) async throws -> TestClient {
        var client = try TestClient(store: store)
        client.configuration.reportSender = collector
        client.configuration.app = ReportedApp(
            bundleID: "com.example.app", version: "1.2", platform: "LINUX", platformVersion: "6.1")
        try client.publish { $0.reportTo = [Self.address] }
        #expect(await (try client.launch()).refresh().isSuccess)
        return client
    }

    private func members(_ report: SimulatedCollector.Arrival) throws -> [String: JSONValue] {
        guard case .object(let members) = try JSONValue(strict: report.body) else { return [:] }
        return Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value) })
    }

    @Test("a mismatch is reported once, to where the list says, however often it happens")
    func mismatchIsReportedOnceToWhereTheListSaysHoweverOftenItHappens() async throws {
        let collector = SimulatedCollector()
        let client = try await Self.client(collector: collector)
        let pinning = try client.launch()
        try await running(pinning) {
            for _ in 0..<50 { _ = pinning.decision(for: TestClient.strangePath, host: TestClient.host) }
            await collector.untilArrived(count: 1)
            _ = pinning.decision(
                for: TestClient.strangePath, host: TestClient.host, connection: ConnectionFacts(port: 8_443))
            await collector.untilArrived(count: 2)
        }
        #expect(collector.arrivals.count == 2)
        let report = try self.members(try #require(collector.arrivals.first))
        #expect(collector.arrivals.first?.address == Self.address)
        #expect(report["hostname"] == .string(TestClient.host))
        #expect(report["port"] == .integer(443))
        #expect(report["app-bundle-id"] == .string("com.example.app"))
        #expect(report["validation-result"] == .integer(1))
    }

    @Test("a report whose signature the transport does not pass on says that it has none")
    func reportWhoseSignatureTheTransportDoesNotPassOnSaysThatItHasNone() async throws {
        struct Signing: ReportAttestor {
            func attestation(of body: [UInt8], to address: String) async -> ReportSignature { .signed("c2lnbmVk") }
            func answered(_ answer: FetchResponse, from address: String) async {}
        }
        /// A transport with nothing but what it has to have.
        struct Plain: ReportSender {
            let collector: SimulatedCollector

            func send(_ body: [UInt8], to address: String) async throws -> FetchResponse {
                try await self.collector.send(body, to: address)
            }
        }
        let collector = SimulatedCollector()
        var client = try await Self.client(collector: collector)
        client.configuration.attestation = Signing()
        client.configuration.reportSender = Plain(collector: collector)
        let pinning = try client.launch()
        try await running(pinning) {
            _ = pinning.decision(for: TestClient.strangePath, host: TestClient.host)
            await collector.untilArrived(count: 1)
        }
        let report = try self.members(try #require(collector.arrivals.first))
        guard case .object(let ours)? = report["tumbler"] else {
            Issue.record("a report without the object of ours")
            return
        }
        #expect(ours.first(where: { $0.name == "attestation" })?.value == .string("failed"))
        // With a transport that passes it on it says nothing.
        client.configuration.reportSender = collector
        let other = try client.launch()
        try await running(other) {
            _ = other.decision(
                for: TestClient.strangePath, host: TestClient.host, connection: ConnectionFacts(port: 8_443))
            await collector.untilArrived(count: 2)
        }
        let signed = try #require(collector.arrivals.last)
        #expect(signed.fields.count == 1)
        #expect(!String(decoding: signed.body, as: UTF8.self).contains("attestation"))
    }

    @Test("what could not be delivered waits over a restart, and goes out once the collector is back")
    func whatCouldNotBeDeliveredWaitsOverARestartAndGoesOutOnceTheCollectorIsBack() async throws {
        let store = MemoryStore()
        let collector = SimulatedCollector()
        let client = try await Self.client(store: store, collector: collector)
        collector.answer = FetchResponse(status: 503)
        let first = try client.launch()
        try await running(first) {
            _ = first.decision(for: TestClient.strangePath, host: TestClient.host)
            await collector.untilArrived(count: 1)
            await client.clock.untilSleeping(count: 2)
        }
        collector.answer = FetchResponse(status: 202)
        client.clock.advance(by: 14_400)
        try await running(try client.launch()) { await collector.untilArrived(count: 2) }
        #expect(Set(collector.arrivals.map(\.body)).count == 1)
        // Delivered is delivered.
        let third = try client.launch()
        try await running(third) {
            _ = third.decision(for: TestClient.strangePath, host: TestClient.host)
            await client.clock.untilSleeping()
        }
        #expect(collector.arrivals.count == 2)
    }

    @Test("an answer that ends the process does not end it at each start: the attempt is stored before it is made")
    func answerThatEndsTheProcessDoesNotEndItAtEachStart() async throws {
        let store = MemoryStore()
        let collector = DeadlyCollector()
        var client = try await Self.client(store: store, collector: SimulatedCollector())
        client.configuration.reportSender = collector
        // Below a 61st: the report does not wait before it is first sent, and the backoff has a random part all the same.
        client.configuration.randomness = FixedRandomness(fraction: 0.005)
        let first = try client.launch()
        let run = Task { await first.run() }
        _ = first.decision(for: TestClient.strangePath, host: TestClient.host)
        await collector.untilAsked()
        // The process is gone, as it were; the next one starts with what is stored.
        let clock = ManualClock(client.clock.now)
        client.configuration.clock = clock
        try await running(try client.launch()) { await clock.untilSleeping(count: 2) }
        #expect(collector.count == 1)
        collector.answer()
        run.cancel()
        await run.value
    }

    @Test(
        "a report whose sending is cancelled stays as it is stored: no failure of the collector, and no lock is asked for",
        arguments: [[], [.locking]] as [Set<FaultyStore.Fault>])
    func reportWhoseSendingIsCancelledStaysAsItIsStored(faults: Set<FaultyStore.Fault>) async throws {
        let store = FaultyStore()
        let collector = SilentCollector()
        var client = try await Self.client(store: store, collector: SimulatedCollector())
        client.configuration.reportSender = collector
        let pinning = try client.launch(refreshing: false)
        var stored = StoredFile.absent
        try await running(pinning) {
            _ = pinning.decision(for: TestClient.strangePath, host: TestClient.host)
            await collector.clock.untilSleeping()
            stored = store.read(.reports, maximumBytes: .max)
            client.clock.advance(by: 1)
            store.faults = faults
        }
        #expect(store.read(.reports, maximumBytes: .max) == stored && stored != .absent)
        #expect(await pinning.kinds().contains(.storeFailed) == false)
    }

    @Test(
        "what is denied or revoked and only reported is an event and a report, where a pin matches and where no entry applies",
        arguments: ["denied-key", "revoked"], [false, true])
    func whatIsDeniedOrRevokedAndOnlyReportedIsAnEventAndAReport(reason: String, isObserving: Bool) async throws {
        let path = try LoggingScene().unlogged
        let leaf = path.certificates[0]
        let key = try Pin(publicKeyOf: leaf)
        let issuer = try Pin(publicKeyOf: path.certificates[1])
        let fields = try CertificateFields(walking: leaf)
        let serial = try #require(SerialNumber(contents: leaf[fields.serialNumber]))
        let collector = SimulatedCollector()
        var client = try await Self.client(collector: collector)
        // An app that observes only reports what the list enforces.
        client.configuration.isObserving = isObserving
        try client.publish { list in
            list.reportTo = [Self.address]
            list.domains[0].entry.pins = [KnownPin(key)]
            if reason == "revoked" {
                list.revoked = [RevokedCertificates(issuer: issuer, serials: [serial], isEnforced: isObserving)]
            } else {
                list.denied = [DeniedKey(key, isEnforced: isObserving)]
            }
        }
        let pinning = try client.launch()
        #expect(await pinning.refresh().isSuccess)
        let hosts = [TestClient.host, "unlisted.example.net"]
        try await running(pinning) {
            for host in hosts { #expect(pinning.decision(for: path, host: host).verdict == .allow) }
            #expect(pinning.decisionCounts == [.pinMatch: 1, .notPinned: 1])
            #expect(await pinning.kinds().count { $0 == .validationFailed } == 2)
            // The last to be sent is a mismatch.
            let last = ConnectionFacts(port: 9_443)
            _ = pinning.decision(for: TestClient.strangePath, host: TestClient.host, connection: last)
            while try !collector.arrivals.contains(where: { try self.members($0)["port"] == .integer(9_443) }) {
                await Task.yield()
            }
        }
        let reports = try collector.arrivals.dropLast().map { try self.members($0) }
        #expect(reports.map { $0["hostname"] } == hosts.map { JSONValue.string($0) })
        for report in reports {
            #expect(report["validation-result"] == .integer(1))
            guard case .object(let ours)? = report["tumbler"] else {
                Issue.record("no object tumbler")
                return
            }
            #expect(ours.contains(JSONValue.Member("reason", .string(reason))))
        }
    }

    @Test("a connection to a suspended host is an event of its own, and one with a denied key there is a failure")
    func connectionToASuspendedHostIsAnEventOfItsOwnAndOneWithADeniedKeyThereIsAFailure() async throws {
        let path = try LoggingScene().unlogged
        let key = try Pin(publicKeyOf: path.certificates[0])
        let client = try TestClient()
        try client.publish { list in
            list.suspended = [Suspension(.everything, until: TestClient.start.advanced(by: 60), reason: "a drill")]
            list.denied = [DeniedKey(key, isEnforced: false)]
        }
        let pinning = try client.launch()
        #expect(await pinning.refresh().isSuccess)
        #expect(pinning.decision(for: TestClient.strangePath, host: TestClient.host).reason == .suspended)
        #expect(await pinning.kinds() == [.listAccepted, .notEnforced])
        #expect(pinning.decision(for: path, host: TestClient.host).reason == .suspended)
        #expect(await pinning.kinds() == [.listAccepted, .notEnforced, .validationFailed])
    }

    @Test(
        "a client without an address reports that its list has expired: at its start, or at the first decision after it",
        arguments: [true, false])
    func clientWithoutAnAddressReportsThatItsListHasExpired(atTheStart: Bool) async throws {
        let collector = SimulatedCollector()
        let client = try await Self.client(collector: collector)
        if atTheStart { client.clock.advance(by: RepositorySimulator.listValidity) }
        let pinning = try client.launch(refreshing: false)
        try await running(pinning) {
            if !atTheStart {
                client.clock.advance(by: RepositorySimulator.listValidity)
                #expect(pinning.decision(for: TestClient.strangePath, host: "unlisted.example.net").verdict == .allow)
            }
            await collector.untilArrived(count: 1)
        }
        let report = try self.members(try #require(collector.arrivals.first))
        guard case .object(let ours)? = report["tumbler"] else {
            Issue.record("no object tumbler")
            return
        }
        #expect(ours.contains(JSONValue.Member("reason", .string("stale"))))
    }

    @Test("an equivocation is reported with the envelope that proves it")
    func equivocationIsReportedWithTheEnvelopeThatProvesIt() async throws {
        let collector = SimulatedCollector()
        let client = try await Self.client(collector: collector)
        let other = try client.publish { $0.version = 2 }
        let pinning = try client.launch()
        try await running(pinning) {
            #expect(await pinning.refresh().refused.map(\.code) == [.equivocation])
            await collector.untilArrived(count: 1)
        }
        let report = try self.members(try #require(collector.arrivals.first))
        guard case .object(let ours)? = report["tumbler"] else {
            Issue.record("no object tumbler")
            return
        }
        #expect(ours.contains(JSONValue.Member("reason", .string("equivocation"))))
        #expect(ours.contains(JSONValue.Member("envelope", .string(Base64.encode(other)))))
    }

    @Test("an endless list is reported as what it is, without an envelope: there is none that was read")
    func endlessListIsReportedAsWhatItIsWithoutAnEnvelopeThereIsNoneThatWasRead() async throws {
        let collector = SimulatedCollector()
        let client = try await Self.client(collector: collector)
        let pinning = try client.launch()
        client.server.interference = { request, answer in
            guard request.address.hasSuffix("pins.json") else { return answer }
            return FetchResponse(status: 200, body: [UInt8](repeating: 0x20, count: request.maximumBytes + 1))
        }
        try await running(pinning) {
            #expect(await pinning.refresh().refused.map(\.code) == [.tooLarge])
            await collector.untilArrived(count: 1)
        }
        guard case .object(let ours)? = try self.members(try #require(collector.arrivals.first))["tumbler"] else {
            Issue.record("no object tumbler")
            return
        }
        #expect(ours.contains(JSONValue.Member("reason", .string("too-large"))))
        #expect(!ours.contains { $0.name == "envelope" })
    }

    @Test("a list that names no collector gets no report, and what a web view visits is private")
    func listThatNamesNoCollectorGetsNoReportAndWhatAWebViewVisitsIsPrivate() async throws {
        let collector = SimulatedCollector()
        var silent = try TestClient()
        silent.configuration.reportSender = collector
        let pinning = try silent.launch()
        let client = try await Self.client(collector: collector)
        try client.publish { list in
            list.reportTo = [Self.address]
            list.unlisted = .report
        }
        let listed = try client.launch()
        #expect(await listed.refresh().isSuccess)
        try await running(pinning) {
            _ = pinning.decision(for: TestClient.strangePath, host: TestClient.host)
            try await running(listed) {
                let webView = ConnectionFacts(isWebView: true)
                _ = listed.decision(for: TestClient.strangePath, host: "elsewhere.example.org", connection: webView)
                _ = listed.decision(for: TestClient.strangePath, host: TestClient.host, connection: webView)
                await collector.untilArrived(count: 1)
            }
        }
        #expect(collector.arrivals.count == 1)
        #expect(try self.members(try #require(collector.arrivals.first))["hostname"] == .string(TestClient.host))
    }

    @Test(
        "before run() begins one failure many times takes the place of no other, and a hundred of a kind not that of another"
    )
    func beforeRunBeginsOneFailureManyTimesTakesThePlaceOfNoOther() async throws {
        let collector = SimulatedCollector()
        let client = try await Self.client(collector: collector)
        let pinning = try client.launch()
        for _ in 0..<200 { _ = pinning.decision(for: TestClient.strangePath, host: TestClient.host) }
        for port in 1...100 {
            let facts = ConnectionFacts(port: port)
            _ = pinning.decision(for: TestClient.strangePath, host: TestClient.host, connection: facts)
        }
        _ = pinning.refusal(of: TestClient.host, .chainInvalid, detail: "no path to an anchor")
        try await running(pinning) { await collector.untilArrived(count: 64) }
        let reports = try collector.arrivals.map { try self.members($0) }
        let ports: [Int64] = [443] + Array(1...62) + [443]
        #expect(reports.map { $0["port"] } == ports.map { JSONValue.integer($0) })
        #expect(reports.last?["validation-result"] == .integer(2))
    }

    @Test("what a transport refused by itself is reported with its reason")
    func whatATransportRefusedByItselfIsReportedWithItsReason() async throws {
        let collector = SimulatedCollector()
        let client = try await Self.client(collector: collector)
        let pinning = try client.launch()
        try await running(pinning) {
            let decision = pinning.refusal(of: TestClient.host, .chainInvalid, detail: "no path to an anchor")
            #expect(decision.verdict == .block)
            await collector.untilArrived(count: 1)
        }
        let report = try self.members(try #require(collector.arrivals.first))
        #expect(report["validation-result"] == .integer(2))
    }

    @Test("a report that arrives while the store is being written is stored too")
    func reportThatArrivesWhileTheStoreIsBeingWrittenIsStoredToo() async throws {
        let store = WatchedStore()
        let collector = DeadlyCollector()
        var client = try await Self.client(store: store, collector: SimulatedCollector())
        client.configuration.reportSender = collector
        let first = try client.launch()
        // In the middle of the write of the first report, on the thread that writes.
        store.onWriting(.reports) {
            _ = first.decision(
                for: TestClient.strangePath, host: TestClient.host, connection: ConnectionFacts(port: 8_443))
        }
        let run = Task { await first.run() }
        _ = first.decision(for: TestClient.strangePath, host: TestClient.host)
        await store.untilWritten(.reports) { String(decoding: $0, as: UTF8.self).contains("8443") }
        // The process is gone; the next one has both.
        let after = SimulatedCollector()
        client.configuration.reportSender = after
        let clock = ManualClock(Timestamp(secondsSince1970: client.clock.now.secondsSince1970 + 14_400))
        client.configuration.clock = clock
        try await running(try client.launch()) { await after.untilArrived(count: 2) }
        let ports = Set(try after.arrivals.map { try self.members($0)["port"] })
        #expect(ports == [.integer(443), .integer(8_443)])
        collector.answer()
        run.cancel()
        await run.value
    }

    @Test(
        "a report that could not be stored is stored when the disk takes it again, though its collector is left alone",
        arguments: [FaultyStore.Fault.locking, .writing, .reading])
    func reportThatCouldNotBeStoredIsStoredWhenTheDiskTakesItAgain(fault: FaultyStore.Fault) async throws {
        let disk = WatchedStore()
        let store = FaultyStore(disk)
        let collector = SimulatedCollector()
        collector.answer = FetchResponse(status: 503)
        let client = try await Self.client(store: store, collector: collector)
        let pinning = try client.launch()
        try await running(pinning) {
            _ = pinning.decision(for: TestClient.strangePath, host: TestClient.host)
            await collector.untilArrived(count: 1)
            await client.clock.untilSleeping(count: 2)
            store.faults = [fault]
            let events = pinning.events()
            _ = pinning.decision(
                for: TestClient.strangePath, host: TestClient.host, connection: ConnectionFacts(port: 8_443))
            // When it arrived, and when it was looked at for sending; or a refresh found first that nothing can be read.
            var failures = 0
            for await event in events where event.kind == .storeFailed || event.kind == .stateUnreadable {
                failures += 1
                if failures == 2 || event.kind == .stateUnreadable { break }
            }
            await client.clock.untilSleeping(count: 2)
            store.faults = []
            client.clock.advance(by: 121)
            await disk.untilWritten(.reports) { String(decoding: $0, as: UTF8.self).contains("8443") }
        }
    }
}

/// A collector that answers a day later.
private struct SilentCollector: ReportSender {
    let clock = ManualClock(TestClient.start)

    func send(_ body: [UInt8], to address: String) async throws -> FetchResponse {
        try await self.clock.sleep(seconds: 86_400)
        return FetchResponse(status: 202)
    }
}
