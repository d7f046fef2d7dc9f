// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import NIOHTTP1
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore

@Suite("Access to the operator's pages")
struct AdminAccessTests {
    private static let pages = DashboardSection.allCases.map(\.path) + ["/runbook/failure-rate"]
    private static let programs = ["/metrics", "/readyz", "/v1/status", "/v1/reports"]

    /// The request that nginx sends for `proxy_pass http://127.0.0.1:PORT;` alone: HTTP/1.0, its own `Host`, and no
    /// word of the client.
    @Test("a plain proxy on the same machine, which says nothing of itself, opens no page to the world")
    func plainProxyOnTheSameMachineWhichSaysNothingOfItselfOpensNoPageToTheWorld() async throws {
        try await PublishedService.with { service in
            // Nothing is said of whether there is such a group.
            let pages = Self.pages + ["/failures/\(QuarterOfReports.id(1))"]
            for path in pages + Self.programs + ["/v1/reports?format=csv", "/v1/lists/a/adoption"] {
                let head = "GET \(path) HTTP/1.0\r\nHost: 127.0.0.1:\(service.port)\r\nConnection: close\r\n\r\n"
                let answer = try await service.ask(head)
                #expect(answer.statuses == [pages.contains(path) ? 303 : 401], "\(path)")
            }
            let health = try await service.ask("GET /healthz HTTP/1.0\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            #expect(health.statuses == [200])
        }
    }

    @Test(
        "strangers who guess tokens keep nobody waiting who has shown one, and a token that was revoked ends all the same"
    )
    func strangersWhoGuessTokensKeepNobodyWaitingWhoHasShownOne() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = WrappedStore(try open())
            try await RunningService.with(store) { service in
                let (token, other) = (try await service.token(.read), try await service.token(.read))
                func status(_ token: String) async throws -> Int {
                    try await service.ask(.GET, "/v1/status", ["Authorization": "Bearer \(token)"]).status
                }
                #expect(try await status(token) == 200)
                // As many guesses wait as may wait.
                store.strangersFailure = StoreError(.busy, "128 calls wait for the database already")
                #expect(try await status(token) == 200)
                #expect(try await status(other) == 503)
                let id = try #require(AccessToken.id(of: token))
                _ = try await store.write { try $0.revokeToken(id: id, at: TurnedClock.start) }
                #expect(try await status(token) == 401)
                // From then on it is a guess as any other.
                #expect(try await status(token) == 503)
            }
        }
    }

    @Test("openOnLoopback opens nothing on another listener, and nothing beside proxies or caches that are known")
    func openOnLoopbackOpensNothingOnAnotherListener() throws {
        var configuration = ServiceConfiguration()
        #expect(!configuration.isOpen)
        configuration.openOnLoopback = true
        #expect(configuration.isOpen)
        let range = try #require(NetworkRange("127.0.0.1"))
        for change: (inout ServiceConfiguration) -> Void in [
            { $0.trustedProxies = [range] }, { $0.edges = [range] }, { $0.adminListen = ListenAddress("0.0.0.0:1") },
            { $0.listen = ListenAddress("192.0.2.1:1") ?? .loopback }, { $0.openOnLoopback = false },
        ] {
            var changed = configuration
            change(&changed)
            #expect(!changed.isOpen)
        }
        configuration.listen = try #require(ListenAddress("0.0.0.0:1"))
        configuration.adminListen = .loopback
        #expect(configuration.isOpen)
    }

    @Test(
        "with openOnLoopback no token is needed there, unless the request came through a proxy, or names another host"
    )
    func withOpenOnLoopbackNoTokenIsNeededThereUnlessTheRequestCameThroughAProxy() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            try await RunningService.with(try open(), { $0.openOnLoopback = true }) { service in
                for path in Self.pages + Self.programs {
                    #expect(try await service.ask(.GET, path, [:]).status == 200, "\(path)")
                }
                for host in ["localhost", "localhost:8480", "127.0.0.1", "127.9.9.9:1", "[::1]:8480", "LOCALHOST"] {
                    #expect(try await service.ask(.GET, "/metrics", ["Host": host]).status == 200, "\(host)")
                }
                // A page of a stranger whose name leads to 127.0.0.1, and a proxy on the same machine.
                for fields in [
                    ["Host": "evil.example"], ["Host": "127.0.0.1.evil.example"], ["Host": "localhost.evil.example:80"],
                    ["Host": "0.0.0.0"], ["Forwarded": "for=192.0.2.1"],
                    ["X-Forwarded-For": "127.0.0.1"], ["X-Forwarded-Proto": "https"], ["x-forwarded-host": "localhost"],
                ] as [HTTPHeaders] {
                    for path in Self.programs {
                        let answer = try await service.ask(.GET, path, fields)
                        #expect(answer.status == 401, "\(path) \(fields)")
                        #expect(answer.headers["www-authenticate"] == ["Bearer realm=\"tumbler\""])
                    }
                    for path in Self.pages {
                        let answer = try await service.ask(.GET, path, fields)
                        #expect(answer.status == 303, "\(path) \(fields)")
                        #expect(answer.headers["location"].first?.hasPrefix("/login?next=") == true)
                        #expect(answer.body.isEmpty)
                    }
                }
            }
        }
    }

    @Test("on any other listener a token is needed for reading, under any name of the host")
    func onAnyOtherListenerATokenIsNeededForReadingUnderAnyNameOfTheHost() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            try await RunningService.with(
                try open(), { $0.listen = ListenAddress("0.0.0.0:0") ?? .loopback }
            ) { service in
                let read = try await service.token(.read)
                let publish = try await service.token(.publish, ["com.example.app"])
                for host in ["localhost", "127.0.0.1"] {
                    for path in Self.programs {
                        #expect(try await service.ask(.GET, path, ["Host": host]).status == 401)
                        let fields: HTTPHeaders = ["Host": host, "Authorization": "Bearer \(publish)"]
                        // Of the status a publisher sees what is about its names.
                        let status = try await service.ask(.GET, path, fields).status
                        #expect(status == (path == "/v1/status" ? 200 : 403), "\(path)")
                    }
                    #expect(try await service.ask(.GET, "/", ["Host": host]).status == 303)
                }
                for (field, status) in [
                    ("Bearer \(read)", 200), ("bearer \(read)", 200), ("Basic \(read)", 401), ("Bearer", 401),
                    ("Bearer  ", 401), (read, 401), ("Bearer \(read.uppercased())", 401),
                ] {
                    #expect(
                        try await service.ask(.GET, "/metrics", ["Authorization": field]).status == status, "\(field)")
                }
                #expect(try await service.ask(.GET, "/healthz", [:]).status == 200)
                try await service.revoke(read)
                #expect(try await service.ask(.GET, "/metrics", ["Authorization": "Bearer \(read)"]).status == 401)
            }
        }
    }

    @Test("with a listener of its own the operator's part is there, and not on the public listener")
    func withAListenerOfItsOwnTheOperatorsPartIsThereAndNotOnThePublicListener() async throws {
        let repository = try RepositorySimulator.story()
        try await TestedStore.sqlite.withDatabase { open in
            try await RunningService.with(
                try open(),
                {
                    $0.adminListen = ListenAddress("127.0.0.1:0")
                    $0.roots = repository.anchors
                }
            ) { service in
                #expect(service.address != service.adminAddress)
                let token = try await service.token(.publish, ["com.example.app"])
                let read = try await service.token(.read)
                for path in Self.pages + ["/metrics", "/readyz", "/v1/status", "/login"] {
                    let answer = try await service.ask(.GET, path, ["Authorization": "Bearer \(read)"])
                    #expect(answer.status == 404, "\(path)")
                    #expect(try await service.ask(.GET, path, isForAdmin: true).status == 200, "\(path)")
                }
                let put = try await service.ask(
                    .PUT, "/v1/lists/com.example.app", ["Authorization": "Bearer \(token)"], Array("[]".utf8))
                #expect(put.status == 404)
                #expect(
                    try await service.publish([repository.roots[0], repository.lists[0]], token: token).status == 200)
                // A command asks one address for what needs a token and for what clients get.
                for isForAdmin in [true, false] {
                    let list = try await service.ask(
                        .GET, "/v1/lists/com.example.app/pins.json", isForAdmin: isForAdmin)
                    #expect(list.status == 200)
                }
                let reported = try await service.ask(.POST, "/v1/reports", isForAdmin: true)
                #expect(reported.status == 405, "which only the public listener takes")
                #expect(try await service.report(ReportText.body()).status == 202)
                for isForAdmin in [true, false] {
                    #expect(try await service.ask(.GET, "/healthz", isForAdmin: isForAdmin).status == 200)
                }
            }
        }
    }

    @Test("nothing at all is changed by a log-in's cookie that another page made the browser send")
    func nothingAtAllIsChangedByALogInsCookieThatAnotherPageMadeTheBrowserSend() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            try await RunningService.with(try open()) { service in
                let fields: HTTPHeaders = [
                    "Host": "pins.example.com", "Cookie": "tumbler=\(try await service.token(.operate))",
                    "Sec-Fetch-Site": "same-site",
                ]
                let digest = String(repeating: "0", count: 64)
                for (method, path) in [
                    (.PUT, "/v1/lists/a"), (.PUT, "/v1/lists/a/logs/\(digest).json"), (.POST, "/v1/lists/a/probe"),
                    (.POST, "/v1/lists/a/sightings"), (.POST, "/v1/lists/a/gates"),
                    (.PUT, "/v1/lists/a/rotations/api.example.com"), (.POST, "/v1/alarms/acknowledge"),
                    (.POST, "/v1/alarms/silence"), (.POST, "/v1/alarms/unsilence"), (.POST, AlarmsPage.testPath),
                    (.POST, AlarmsPage.acknowledgePath), (.POST, AlarmsPage.silencePath),
                    (.POST, AlarmsPage.unsilencePath), (.POST, "/logout"),
                ] as [(HTTPMethod, String)] {
                    let answer = try await service.ask(method, path, fields, Array("{}".utf8))
                    #expect(answer.status == 403, "\(method) \(path)")
                    #expect(answer.code == "foreign-form", "\(method) \(path)")
                }
                #expect(try await service.actions().isEmpty)
            }
        }
    }

    @Test("a token that publishes sees of the status what is about its names, and every alarm that may be about them")
    func tokenThatPublishesSeesOfTheStatusWhatIsAboutItsNames() async throws {
        let repository = try RepositorySimulator.story([try .pinned("api.example.com")])
        try await TestedStore.sqlite.withDatabase { open in
            try await RunningService.with(try open(), { $0.roots = repository.anchors }) { service in
                let token = try await service.token(.publish, ["com.example.app"])
                _ = try await service.publish([repository.roots[0], repository.lists[0]], token: token)
                for host in ["api.example.com", "invented.example"] {
                    _ = try await service.report(ReportText.body([("noted-hostname", .string(host))]))
                }
                func status(_ secret: String) async throws -> String {
                    let answer = try await service.ask(.GET, "/v1/status", ["Authorization": "Bearer \(secret)"])
                    #expect(answer.status == 200)
                    return answer.text
                }
                let own = try await status(token)
                for text in ["\"host\":\"api.example.com\"", "\"name\":\"com.example.app\""] {
                    #expect(own.contains(text), "\(text)")
                }
                #expect(!own.contains("invented.example"))
                #expect(try await status(try await service.token(.read)).contains("invented.example"))
                let other = try await status(try await service.token(.publish, ["com.example.other"]))
                for text in ["api.example.com", "com.example.app", "invented.example"] {
                    #expect(!other.contains(text))
                }
                let lists = ServedLists(anchors: repository.anchors)
                _ = try await lists.reload(from: service.store)
                let names = lists.names
                let overview = try await service.store.read { store in
                    try Overview(store, names, RotationPlans(), broken: [:], at: TurnedClock.start)
                }
                let (ownScope, otherScope) = (
                    StatusScope(overview, ["com.example.app"]), StatusScope(overview, ["com.example.other"])
                )
                for subject in ["api.example.com", "com.example.app", "hosts of no list", "2 hosts"] {
                    #expect(ownScope.hasAlarm(about: subject), "\(subject)")
                    #expect(otherScope.hasAlarm(about: subject) == subject.contains("hosts"), "\(subject)")
                }
                let probe = try await service.token(.probe, ["com.example.app"])
                let answer = try await service.ask(.GET, "/v1/status", ["Authorization": "Bearer \(probe)"])
                #expect(answer.status == 403)
            }
        }
    }

    @Test("metrics, status and readiness say what is published and where the log stands")
    func metricsStatusAndReadinessSayWhatIsPublishedAndWhereTheLogStands() async throws {
        let repository = try RepositorySimulator.story([try .pinned("api.example.com")])
        try await TestedStore.sqlite.withDatabase { open in
            try await RunningService.with(try open(), { $0.roots = repository.anchors }) { service in
                let token = try await service.token(.publish, ["com.example.app"])
                _ = try await service.publish([repository.roots[0], repository.lists[0]], token: token)
                _ = try await service.report(ReportText.body([("noted-hostname", .string("api.example.com"))]))
                _ = try await service.report(ReportText.body([("noted-hostname", .string("evil\"},x=\"1.example"))]))
                _ = try await service.report(Array("{}".utf8))
                let head = try await service.store.read { try $0.newestAuditEntry()?.digest } ?? ""
                let metrics = try await service.ask(.GET, "/metrics")
                #expect(metrics.headers["content-type"] == ["text/plain; version=0.0.4; charset=utf-8"])
                for line in [
                    #"tumbler_list_version{name="com.example.app"} 1"#,
                    #"tumbler_reports_accepted_total{kind="pin"} 2"#,
                    #"tumbler_reports_refused_total{reason="not-a-report"} 1"#,
                    #"tumbler_pin_failures_last_hour{host="api.example.com"} 1"#,
                    "tumbler_audit_entries{head=\"\(head)\"} 2",
                ] {
                    #expect(metrics.text.split(separator: "\n").contains { $0 == line }, "\(line)")
                }
                #expect(!metrics.text.contains("evil"))
                let status = try await service.ask(.GET, "/v1/status")
                #expect(status.member("auditHead") == head)
                #expect(status.text.contains(Envelope.digest(of: repository.lists[0])))
            }
        }
    }
}
