// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("Reports in a store", .runsPostgreSQL)
struct StoredReportTests {
    /// A report of a leaf at a host.
    static func accepted(
        host: String = "example.com", leaf: Int = 1, networks: Int? = nil, isListed: Bool = true,
        at time: Timestamp = TurnedClock.start
    ) throws -> AcceptedReport {
        let report = try ReportText.report(
            chain: SketchedChain.chain(leafKey: leaf),
            [("noted-hostname", .string(host)), ("app-vendor-id", .string("SECRET-ID"))])
        let day = time.secondsSince1970 / 86_400
        return AcceptedReport(
            report: report, group: ReportGroup(report), receivedAt: time,
            networks: networks.map { NetworkCounter.Count(day: day, networks: BoundedCount($0, isMore: false)) },
            isSample: false, isListed: isListed, body: report.document)
    }

    @Test("the result of the last probe of the host is evidence", arguments: TestedStore.all)
    func resultOfTheLastProbeOfTheHostIsEvidence(on tested: TestedStore) async throws {
        let chain = SketchedChain.chain(organisation: "Acme Corp", commonName: "Acme CA")
        let report = try ReportText.report(chain: chain)
        let pin = try #require(ReadableCertificate(chain[0])?.pin.description)
        let accepted = AcceptedReport(
            report: report, group: ReportGroup(report), receivedAt: TurnedClock.start, networks: nil, isSample: false,
            isListed: true,
            body: report.document)
        @Sendable func probe(_ name: String, _ pin: String, isOK: Bool, after seconds: Int64) -> StoredProbe {
            StoredProbe(
                name: name, host: "example.com",
                at: Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 + seconds), isOK: isOK,
                result: Array(#"{"path":[{"pin":"\#(pin)"}]}"#.utf8))
        }
        try await tested.withDatabase { open in
            let store = try open()
            try await store.write { try $0.add([accepted], countedBy: "a") }
            func cause() async throws -> LikelyCause? {
                try await store.read { try $0.groups(GroupFilter(), newest: [:]).first?.cause }
            }
            let before = try await cause()
            #expect(before?.evidence.contains { $0.contains("Your probe") } == false)
            try await store.write { try $0.add([probe("a", "sha256/other", isOK: true, after: 1)]) }
            let other = try await cause()
            #expect(other?.evidence.contains { $0.contains("saw another key at the host, of another") } == true)
            try await store.write { try $0.add([probe("b", pin, isOK: false, after: 2)]) }
            let seen = try await cause()
            #expect(seen?.kind == .rotation)
        }
    }

    @Test("500 reports at once take far fewer transactions, and each is there once", arguments: TestedStore.all)
    func of500ReportsAtOnceTakeFarFewerTransactionsAndEachIsThereOnce(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = GatedStore(try open())
            let intake = ReportIntake(store: store, instance: "a")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<500 {
                    group.addTask { try await intake.store([try Self.accepted()]) }
                }
                // The first one is being written while all the others come.
                await store.untilWriting()
                while intake.waitingCount < 500 { await Task.yield() }
                store.open()
                try await group.waitForAll()
            }
            let written = intake.written
            #expect(written.reports == 500)
            #expect(written.batches <= 2)
            let groups = try await open().read { try $0.groups(GroupFilter(), newest: [:]) }
            #expect(groups.map(\.count) == [500])
            let stored = try await open().read { try $0.hostRates(listed: [], at: TurnedClock.start) }
            #expect(stored.map(\.lastHour) == [500])
        }
    }

    @Test("large reports at once take several transactions: what one of them holds has its end")
    func largeReportsAtOnceTakeSeveralTransactionsWhatOneOfThemHoldsHasItsEnd() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = GatedStore(try open())
            let intake = ReportIntake(store: store, instance: "a")
            var report = try ReportText.report(chain: [])
            report.servedChain = [Array(repeating: 0, count: ReportIntake.maximumBatchBytes / 4)]
            let large = AcceptedReport(
                report: report, group: ReportGroup(report), receivedAt: TurnedClock.start, networks: nil,
                isSample: false, isListed: true, body: [])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<9 { group.addTask { try await intake.store([large]) } }
                await store.untilWriting()
                while intake.waitingCount < 9 { await Task.yield() }
                store.open()
                try await group.waitForAll()
            }
            #expect(intake.written.reports == 9)
            #expect(intake.written.batches >= 3)
        }
    }

    @Test("a report without room is refused at once, and there is room again when it is written")
    func reportWithoutRoomIsRefusedAtOnceAndThereIsRoomAgainWhenItIsWritten() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = GatedStore(try open())
            let intake = ReportIntake(store: store, instance: "a")
            let one = try Self.accepted()
            let maximum = Array(repeating: one, count: ReportIntake.maximumWaiting)
            async let stored: Void = intake.store(maximum)
            await store.untilWriting()
            await #expect(throws: ReportIntake.CongestionError.self) { try await intake.store([one]) }
            store.open()
            try await stored
            try await intake.store([one])
            #expect(intake.written.reports == Int64(ReportIntake.maximumWaiting) + 1)
        }
    }

    @Test("a batch that cannot be stored is refused to all who wait for it; the next one is stored")
    func batchThatCannotBeStoredIsRefusedToAllWhoWaitForItTheNextOneIsStored() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = WrappedStore(try open())
            let intake = ReportIntake(store: store, instance: "a")
            let one = try Self.accepted()
            store.failure = StoreError(.full, "the disk is full")
            await #expect(throws: StoreError.self) { try await intake.store([one]) }
            store.failure = nil
            try await intake.store([one])
            #expect(intake.written.reports == 1)
        }
    }

    @Test("bodies are kept of the first 16 of a group, and never an app's vendor id", arguments: TestedStore.all)
    func bodiesAreKeptOfTheFirst16OfAGroupAndNeverAnAppsVendorId(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            let reports = try (0..<20).map { _ in try Self.accepted() }
            try await store.write { try $0.add(reports, countedBy: "a") }
            try await store.write { try $0.add(reports, countedBy: "a") }
            let bodies = try await store.read { store in
                try store.connection.rows("SELECT body FROM report WHERE body IS NOT NULL", []).map { try $0.blob(0) }
            }
            #expect(bodies.count == 16)
            #expect(bodies.allSatisfy { !String(decoding: $0, as: UTF8.self).contains("SECRET-ID") })
        }
    }

    @Test(
        "a report whose document may not be kept is stored without it, and no row is longer for the texts of a stranger",
        arguments: TestedStore.all)
    func reportWhoseDocumentMayNotBeKeptIsStoredWithoutItAndNoRowIsLongerForTheTextsOfAStranger(
        on tested: TestedStore
    ) async throws {
        // The longest texts that are read: 256 scalars of four bytes.
        let long = JSONValue.string(String(repeating: "😀", count: ReportBodyLimits.textLength))
        let texts = ["hostname", "app-platform", "app-platform-version"].map { ($0, long) }
        var changed = try ReportText.report(chain: SketchedChain.chain(), texts)
        #expect(changed.hostname.utf8.count == 1_024)
        changed.signals = (0..<20).map { "\($0 % 10)" + String(repeating: "s", count: 100) }
        let report = changed
        let reports = [false, true].map { isKept in
            AcceptedReport(
                report: report, group: ReportGroup(report), receivedAt: TurnedClock.start, networks: nil,
                isSample: false, isListed: true, mayBeKept: { isKept }, body: report.document)
        }
        try await tested.withDatabase { open in
            let store = try open()
            try await store.write { try $0.add(reports, countedBy: "a") }
            let rows = try await store.read { store in
                try store.connection.rows(
                    "SELECT host, platform, leaf_pin, signals, body FROM report ORDER BY number", [])
            }
            try #require(rows.count == 2)
            for (row, isKept) in zip(rows, [false, true]) {
                let texts = try (0..<4).map { try row.text($0) }
                #expect(texts.reduce(0) { $0 + $1.utf8.count } <= 900)
                // Cut between characters.
                #expect(texts[0] == String(repeating: "😀", count: 63))
                #expect(texts[1] == String(repeating: "😀", count: 16))
                #expect(texts[3] == report.signals.prefix(5).joined(separator: "\n"))
                #expect(try row.optionalBlob(4) == (isKept ? report.document : nil))
            }
        }
    }

    @Test("networks of a day never shrink, and two instances that count the same are not added up; leaves are told")
    func networksOfADayNeverShrinkAndTwoInstancesThatCountTheSameAreNotAddedUp() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            for (instance, networks, leaf) in [("a", 3, 1), ("a", 2, 1), ("b", 5, 2)] {
                let report = try Self.accepted(leaf: leaf, networks: networks)
                try await store.write { try $0.add([report], countedBy: instance) }
            }
            let group = try #require(try await store.read { try $0.groups(GroupFilter(), newest: [:]) }.first)
            #expect(group.networks == BoundedCount(5, isMore: false))
            #expect(group.leaves == BoundedCount(2, isMore: false))
            #expect(group.leafPin == nil)
            let stored = try await store.read { store in
                try store.connection.rows("SELECT instance, networks FROM group_network ORDER BY instance", [])
                    .map { "\(try $0.text(0)) \(try $0.integer(1))" }
            }
            #expect(stored == ["a 3", "b 5"])
        }
    }

    @Test("two instances that add the same groups at once lose nothing", arguments: TestedStore.all)
    func twoInstancesThatAddTheSameGroupsAtOnceLoseNothing(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let intakes = [
                ReportIntake(store: try open(), instance: "a"), ReportIntake(store: try open(), instance: "b"),
            ]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<60 {
                    group.addTask {
                        try await intakes[number % 2].store([
                            try Self.accepted(host: number % 3 == 0 ? "a.example" : "b.example")
                        ])
                    }
                }
                try await group.waitForAll()
            }
            let groups = try await open().read { try $0.groups(GroupFilter(), newest: [:]) }
            #expect(groups.map { "\($0.host) \($0.count)" }.sorted() == ["a.example 20", "b.example 40"])
        }
    }

    @Test(
        "what instances counted is added up a day later: their names change with each start, and nothing is lost",
        arguments: TestedStore.all)
    func whatInstancesCountedIsAddedUpADayLaterTheirNamesChangeWithEachStart(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            let key = ListRequestKey(name: "a", hour: TurnedClock.start.hour, source: .log, digest: "")
            try await store.write { try $0.addRoot([1], version: 1, name: "a") }
            for instance in ["a", "b", "c"] {
                try await store.append { store in
                    try store.add(
                        [try Self.accepted(), try Self.accepted(host: "\(instance).example")], countedBy: instance)
                    try store.add([key: 2], countedBy: instance)
                }
            }
            func sums() async throws -> [String] {
                try await store.read { store in
                    try ["group_count", "group_hour", "report_hour", "inquiry"].flatMap { table in
                        try store.connection.rows("SELECT COUNT(*), SUM(count) FROM \(table)", [])
                            .map { "\(table) \(try $0.integer(0)) \(try $0.integer(1))" }
                    }
                }
            }
            let groups = try await store.read {
                try $0.groups(GroupFilter(), newest: [:]).map { "\($0.id) \($0.count) \($0.seen)" }
            }
            for _ in 0..<2 { try await store.write { try $0.foldCounts(before: TurnedClock.start.hour) } }
            #expect(try await sums() == ["group_count 6 6", "group_hour 6 6", "report_hour 6 6", "inquiry 3 6"])
            for _ in 0..<2 { try await store.write { try $0.foldCounts(before: TurnedClock.start.hour + 1) } }
            #expect(try await sums() == ["group_count 4 6", "group_hour 4 6", "report_hour 4 6", "inquiry 1 6"])
            #expect(
                try await store.read {
                    try $0.groups(GroupFilter(), newest: [:]).map { "\($0.id) \($0.count) \($0.seen)" }
                } == groups)
        }
    }

    /// Invented groups, each with so many reports, of 1970: by default so many that none leaves.
    static func fill(
        _ store: any ServiceStore, _ count: Int, isListed: Bool, reports: Int64 = GroupQuota.maximumOfSmallGroup + 1
    ) async throws {
        try await store.write { store in
            let last = try store.connection.rows("SELECT COALESCE(MAX(number), 0) FROM report_group", []).first
            let first = try #require(try last?.integer(0))
            try store.connection.execute(
                """
                WITH RECURSIVE made (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM made WHERE n < ?)
                INSERT INTO report_group (id, kind, reason, host, app, app_version, list_name, issuer, is_validated,
                    is_listed)
                SELECT 'made ' || (n + ?), 'pin', 'x', 'h' || n, '', '', '', '', 0, ? FROM made
                """, [.integer(Int64(count)), .integer(first), .integer(isListed ? 1 : 0)])
            try store.connection.execute(
                """
                INSERT INTO group_count (group_number, instance, count, bodies, bodies_at, first_at, last_at)
                SELECT number, 'x', ?, 0, 0, number, number FROM report_group WHERE number > ?
                """, [.integer(reports), .integer(first)])
        }
    }

    /// What overflows counted: kind, host and number of each.
    static func overflow(in store: any ServiceStore) async throws -> [String] {
        try await store.read { store in
            try store.connection.rows(
                """
                SELECT kind, host, SUM(count) FROM report_group JOIN group_count ON group_number = number
                WHERE reason = ? GROUP BY kind, host ORDER BY host
                """, [.text(ReportGroup.overflowReason)]
            ).map { "\(try $0.text(0)) \(try $0.text(1)) \(try $0.integer(2))" }
        }
    }

    @Test(
        "where strangers' groups fill their half, theirs are one group, and a listed host still gets its own",
        arguments: TestedStore.all)
    func whereStrangersGroupsFillTheirHalfTheirsAreOneGroup(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            try await Self.fill(store, ReportGroup.maximumGroups / 2, isListed: false)
            let reports = try (0..<30).map { try Self.accepted(host: "invented\($0).example", isListed: false) }
            try await store.append { try $0.add(reports, countedBy: "a") }
            try await store.append { try $0.add([try Self.accepted(host: "known.example")], countedBy: "a") }
            #expect(try await Self.overflow(in: store) == ["pin  30"])
            let groups = try await store.read { try $0.groups(GroupFilter(host: "known.example"), newest: [:]) }
            #expect(groups.map(\.count) == [1])
            let rates = try await store.read { try $0.hostRates(listed: ["known.example"], at: TurnedClock.start) }
            #expect(rates.first { $0.host == "known.example" }?.lastHour == 1)
        }
    }

    @Test(
        "a listed host whose half is full is counted as itself, in the hours and in the overflow",
        arguments: TestedStore.all)
    func listedHostWhoseHalfIsFullIsCountedAsItselfInTheHoursAndInTheOverflow(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            try await Self.fill(store, ReportGroup.maximumGroups / 2, isListed: true)
            try await store.append { store in
                try store.add(
                    [try Self.accepted(host: "known.example"), try Self.accepted(host: "known.example")], countedBy: "a"
                )
            }
            #expect(try await Self.overflow(in: store) == ["pin known.example 2"])
            let rates = try await store.read { try $0.hostRates(listed: ["known.example"], at: TurnedClock.start) }
            #expect(rates.map { "\($0.host) \($0.lastHour)" } == ["known.example 2.0"])
        }
    }

    @Test(
        "while another instance makes groups, what has no room is counted in its overflow, and what has room is given back",
        arguments: TestedStore.all)
    func whileAnotherInstanceMakesGroupsWhatHasNoRoomIsCountedInItsOverflow(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = CrowdedStore(try open())
            @Sendable func append(_ reports: [AcceptedReport], isCrowded: Bool) async throws {
                store.isCrowded = isCrowded
                defer { store.isCrowded = false }
                try await store.append { try $0.add(reports, countedBy: "a") }
            }
            /// The places of those that are given back.
            func waiting(_ reports: [AcceptedReport]) async throws -> Set<Int>? {
                do { try await append(reports, isCrowded: true) } catch let error as ReportsMustWait {
                    return error.places
                }
                return nil
            }
            let known = try Self.accepted(host: "known.example")
            let (newcomer, late) = (try Self.accepted(host: "new.example"), try Self.accepted(host: "late.example"))
            let invented = try (0..<30).map { try Self.accepted(host: "invented\($0).example", isListed: false) }
            // They have room.
            #expect(try await waiting(invented) == Set(0..<30))
            let early = try Self.accepted(host: "early.example", isListed: false)
            try await append([early, early], isCrowded: false)
            #expect(try await waiting([early, invented[0], early, invented[0]]) == [1, 3])
            try await Self.fill(store, ReportGroup.maximumGroups / 2, isListed: false)
            // Their overflow is made once, by the one that makes groups.
            #expect(try await waiting(invented) == Set(0..<30))
            try await append([known, invented[0]], isCrowded: false)
            try await append(invented + [known], isCrowded: true)
            #expect(try await Self.overflow(in: store) == ["pin  31"])
            // A host of a list has room, and a group whose host came into a list is to be marked.
            #expect(try await waiting(invented + [newcomer, known]) == [30])
            #expect(try await waiting([known, try Self.accepted(host: "early.example")]) == [1])
            try await append([newcomer, newcomer], isCrowded: false)
            // Where the half of listed hosts is full, too, theirs are given back no longer, and keep their host.
            try await Self.fill(store, ReportGroup.maximumGroups / 2 - 2, isListed: true)
            try await append([late], isCrowded: false)
            try await append(invented + [late, known], isCrowded: true)
            #expect(try await Self.overflow(in: store) == ["pin  61", "pin late.example 2"])
            let groups = try await store.read { try $0.groups(GroupFilter(host: "known.example"), newest: [:]) }
            #expect(groups.map(\.count) == [3])
        }
    }

    @Test(
        "while another instance makes groups, a host that has its share of them gets no more, and other hosts have room",
        arguments: TestedStore.all)
    func whileAnotherInstanceMakesGroupsAHostThatHasItsShareOfThemGetsNoMore(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = CrowdedStore(try open())
            let share = ReportGroup.maximumGroups / 2 / 8
            let full = try (0...(share + 1)).map { number in
                let report = try ReportText.report(
                    chain: [], [("noted-hostname", .string("full.example")), ("app-version", .string("\(number)"))])
                return AcceptedReport(
                    report: report, group: ReportGroup(report), receivedAt: TurnedClock.start, networks: nil,
                    isSample: false, isListed: true, body: report.document)
            }
            // Each twice: none leaves for another, and the one after the last is the overflow's.
            let first = Array(full.dropLast())
            for _ in 0..<2 { try await store.append { try $0.add(first, countedBy: "a") } }
            #expect(try await Self.overflow(in: store) == ["pin full.example 2"])
            store.isCrowded = true
            try await store.append { try $0.add([full[0], full[share + 1]], countedBy: "a") }
            #expect(try await Self.overflow(in: store) == ["pin full.example 3"])
            let other = try Self.accepted(host: "other.example")
            let error = await #expect(throws: ReportsMustWait.self) {
                try await store.append { try $0.add([full[share + 1], other], countedBy: "a") }
            }
            #expect(error?.places == [1])
        }
    }

    @Test(
        "of hosts that no list has a hundred are told apart by the hour, and the rest is one",
        arguments: TestedStore.all)
    func ofHostsThatNoListHasAHundredAreToldApartByTheHourAndTheRestIsOne(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            for instance in ["a", "b"] {
                let reports = try (0..<150).map { try Self.accepted(host: "h\($0).example", isListed: false) }
                try await store.append { try $0.add(reports, countedBy: instance) }
            }
            let hosts = try await store.read { store in
                try store.connection.rows("SELECT host, SUM(count) FROM report_hour GROUP BY host ORDER BY host", [])
                    .map { "\(try $0.text(0)) \(try $0.integer(1))" }
            }
            #expect(hosts.count == CountedHosts.maximumOther + 1)
            #expect(hosts.first == "* 100")
            #expect(hosts.dropFirst().allSatisfy { $0.hasSuffix(" 2") })
        }
    }
}
