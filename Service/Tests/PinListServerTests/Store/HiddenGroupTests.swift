// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("Groups that a stranger makes up hide no others", .runsPostgreSQL)
struct HiddenGroupTests {
    private static let now = TurnedClock.start

    /// Makes groups, each of which was last reported a second after the one before.
    ///
    /// - Parameters:
    ///   - host: Says the host of each group, by its number.
    ///   - last: The time of the last report of the newest.
    @discardableResult
    private static func make(
        _ count: Int = 1, in store: any ServiceStore, isListed: Bool, reports: Int64, last: Int64,
        kind: CollectedReport.Kind = .pin,
        attestation: AttestationState = .notAsked, version: String = "", host: @Sendable @escaping (Int) -> String
    ) async throws -> [String] {
        try await store.write { store in
            try (0..<count).map { index in
                let time = Self.now.before(Int64(count - 1 - index) - last).secondsSince1970
                let id = "\(host(index)) \(version)\(attestation.rawValue) \(index)"
                let row = try store.connection.rows(
                    """
                    INSERT INTO report_group (id, kind, reason, host, app, app_version, list_name, issuer, is_validated,
                        is_listed, attestation) VALUES (?, ?, 'x', ?, '', ?, '', '', 0, ?, ?) RETURNING number
                    """,
                    [
                        .text(id), .text(kind.rawValue), .text(host(index)), .text(version), .integer(isListed ? 1 : 0),
                        .text(attestation.rawValue),
                    ]
                ).first
                let number = SQLValue.integer(try #require(try row?.integer(0)))
                try store.connection.execute(
                    """
                    INSERT INTO group_count (group_number, instance, count, bodies, bodies_at, first_at, last_at)
                    VALUES (?, 'x', ?, 0, 0, ?, ?)
                    """, [number, .integer(reports), .integer(time), .integer(time)])
                try store.connection.execute(
                    "INSERT INTO group_hour (group_number, hour, count, instance) VALUES (?, ?, ?, 'x')",
                    [number, .integer(time / 3_600), .integer(reports)])
                return id
            }
        }
    }

    private static func shown(_ filter: GroupFilter, in store: any ServiceStore) async throws -> Set<String> {
        Set(try await store.read { try $0.groups(filter, newest: [:], at: Self.now).map(\.id) })
    }

    @Test(
        "a stranger reports newer groups of a thousand invented hosts, or of one listed host: real ones stay",
        arguments: TestedStore.all)
    func strangerReportsNewerGroupsOfAThousandInventedHostsOrOfOneListedHost(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            // An hour old, when the stranger's are of this second.
            let real = try await Self.make(in: store, isListed: true, reports: 40, last: -3_600) { _ in
                "api.example.com"
            }
            let attested = try await Self.make(
                in: store, isListed: true, reports: 3, last: -3_600, attestation: .attested
            ) { _ in "api.example.com" }
            let other = try await Self.make(in: store, isListed: true, reports: 2, last: -3_600) { _ in
                "www.example.com"
            }
            // A host that the list forgot: installations refuse it, and many report it.
            let forgotten = try await Self.make(in: store, isListed: false, reports: 900, last: -3_600) { _ in
                "new.example.com"
            }
            try await Self.make(1_000, in: store, isListed: false, reports: 5, last: 0) { "0\($0).invented" }
            try await Self.make(300, in: store, isListed: true, reports: 5, last: 0, version: "9") { _ in
                "api.example.com"
            }
            // A storm of another version that is over.
            try await Self.make(20, in: store, isListed: true, reports: 9_000, last: -172_800, version: "1") { _ in
                "api.example.com"
            }
            let page = try await Self.shown(GroupFilter(limit: 20), in: store)
            #expect(page.isSuperset(of: real + attested + other + forgotten))
            #expect(page.count == 20)
            let ofHost = try await Self.shown(GroupFilter(host: "api.example.com", limit: 10), in: store)
            #expect(ofHost.isSuperset(of: real + attested))
            #expect(try await Self.shown(GroupFilter(isAttested: true, limit: 20), in: store) == Set(attested))
            // The newest ones are there as well, whoever reported them.
            #expect(page.contains("0999.invented not asked 999") && page.contains("api.example.com 9not asked 299"))
        }
    }

    @Test(
        "a token of one list sees its hosts' groups, when other lists' hosts have newer ones",
        arguments: TestedStore.all)
    func tokenOfOneListSeesItsHostsGroups(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            let own = try await Self.make(in: store, isListed: true, reports: 40, last: -3_600) { _ in "own.example.com"
            }
            try await Self.make(40, in: store, isListed: true, reports: 50, last: 0) { "h\($0).example.net" }
            let seen = try await store.read { store in
                try store.groups(GroupFilter(limit: 20), newest: [:]) { $0.hasSuffix("example.com") }.map(\.id)
            }
            #expect(seen == own)
        }
    }

    @Test(
        "a stranger reports a private issuer for an invented host: that makes no interception of it",
        arguments: TestedStore.all)
    func strangerReportsAPrivateIssuerForAnInventedHostThatMakesNoInterceptionOfIt(on tested: TestedStore) async throws
    {
        let chain = SketchedChain.chain(organisation: "Acme Corp", commonName: "Acme CA")
        @Sendable func report(_ host: String, isListed: Bool) throws -> AcceptedReport {
            let report = try ReportText.report(chain: chain, [("noted-hostname", .string(host))])
            return AcceptedReport(
                report: report, group: ReportGroup(report), receivedAt: Self.now, networks: nil, isSample: false,
                isListed: isListed, body: report.document)
        }
        try await tested.withDatabase { open in
            let store = try open()
            func evidence() async throws -> String {
                try await store.read { store in
                    try store.groups(GroupFilter(host: "api.example.com"), newest: [:]).flatMap(\.cause.evidence)
                        .joined(separator: " ")
                }
            }
            for (host, isListed) in [("api.example.com", true), ("x.invented", false)] {
                try await store.write { try $0.add([try report(host, isListed: isListed)], countedBy: "a") }
            }
            #expect(try await !evidence().contains("x.invented"))
            try await store.write { try $0.add([try report("www.example.com", isListed: true)], countedBy: "a") }
            #expect(try await evidence().contains("reported for other hosts: www.example.com."))
        }
    }

    @Test(
        "invented hosts before all others in the alphabet leave listed ones among the choices",
        arguments: TestedStore.all)
    func inventedHostsBeforeAllOthersLeaveListedOnesAmongTheChoices(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            try await Self.make(in: store, isListed: true, reports: 40, last: 0, version: "8.1") { _ in
                "www.example.com"
            }
            try await Self.make(30, in: store, isListed: false, reports: 1, last: 0, version: "0") { "0\($0).invented" }
            let choices = try await store.read { try $0.groupChoices(limit: 10) }
            #expect(choices.hosts.count == 10 && choices.hosts.last == "www.example.com")
            #expect(choices.hosts == choices.hosts.sorted())
            #expect(choices.versions == ["0", "8.1"])
        }
    }

    @Test(
        "ten newer groups of a listed host that a stranger made up do not say what its failures come from",
        arguments: TestedStore.all)
    func tenNewerGroupsOfAListedHostDoNotSayWhatItsFailuresComeFrom(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            let host = "api.example.com"
            try await Self.make(in: store, isListed: true, reports: 400, last: -60, attestation: .unattested) { _ in
                host
            }
            try await Self.make(
                in: store, isListed: true, reports: 4, last: -60, kind: .pin, attestation: .attested
            ) { _ in host }
            try await Self.make(
                30, in: store, isListed: true, reports: 5, last: 0, kind: .cleartext, attestation: .unattested,
                version: "9"
            ) { _ in host }
            func cause(_ attested: Set<String> = []) async throws -> LikelyCause.Kind {
                try await store.read { store in
                    let causes = try store.leadingCauses(of: [host], attested: attested, newest: [:], at: Self.now)
                    return try #require(causes[host]).kind
                }
            }
            #expect(try await cause() != .cleartext)
            // Where attested reports ring the alarm no number of others counts.
            try await Self.make(
                in: store, isListed: true, reports: 5_000, last: 0, kind: .cleartext, attestation: .unattested,
                version: "8"
            ) { _ in host }
            #expect(try await cause() == .cleartext)
            #expect(try await cause([host]) != .cleartext)
        }
    }
}
