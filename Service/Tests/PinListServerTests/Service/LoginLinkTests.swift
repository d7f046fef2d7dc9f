// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOHTTP1
import Testing

@testable import PinListServer
@testable import PinListStore

@Suite("A log-in link", .runsPostgreSQL)
struct LoginLinkTests {
    private static let host: HTTPHeaders = ["Host": "localhost"]
    private static let own: HTTPHeaders = ["Host": "localhost", "Sec-Fetch-Site": "same-origin"]

    /// Makes a link in the store of a service; its code.
    private static func code(_ store: any ServiceStore, at time: Timestamp = TurnedClock.start) async throws -> String {
        let random = (0..<LoginCode.randomBytes).map { _ in UInt8.random(in: .min ... .max) }
        let made = try #require(LoginCode.make(owner: "anna", random: random, at: time))
        try await store.write { try $0.add(made.code, by: "cli", at: time) }
        return made.text
    }

    private static func use(
        _ service: RunningService, _ code: String, _ fields: HTTPHeaders = Self.own
    ) async throws -> RunningService.Answer {
        try await service.ask(.POST, "/login", fields, Array("code=\(code)".utf8))
    }

    private static func cookie(_ answer: RunningService.Answer) throws -> HTTPHeaders {
        let field = try #require(answer.headers["set-cookie"].first)
        return Self.own + [("Cookie", String(field.prefix { $0 != ";" }))]
    }

    private func run(
        on tested: TestedStore = .sqlite, logger: Logger = RunningService.silent,
        _ body: @Sendable (RunningService) async throws -> Void
    ) async throws {
        try await tested.withDatabase { open in
            try await RunningService.with(try open(), logger: logger, { _ in }, body)
        }
    }

    @Test("logs in once, for twelve hours, as a token that reads and says whose it is", arguments: TestedStore.all)
    func logsInOnceForTwelveHoursAsATokenThatReadsAndSaysWhoseItIs(on tested: TestedStore) async throws {
        try await self.run(on: tested) { service in
            let code = try await Self.code(service.store)
            let link = LoginCode.link(to: "", code)
            // A fetch of the link does not use it: previews, scanners, HEAD.
            for method in [HTTPMethod.GET, .HEAD, .GET] {
                let page = try await service.ask(method, link, Self.host)
                #expect(page.status == 200)
                #expect(page.headers["set-cookie"].isEmpty)
                #expect(page.headers["referrer-policy"] == ["no-referrer"])
                #expect(page.headers["cache-control"] == ["no-store"])
                #expect(method == .HEAD || page.text.contains("name=\"code\" value=\"\(code)\""))
            }
            let answer = try await Self.use(service, code)
            #expect(answer.status == 303)
            #expect(answer.headers["location"] == ["/"])
            #expect(answer.headers["referrer-policy"] == ["no-referrer"])
            #expect(answer.headers["cache-control"] == ["no-store"])
            #expect(answer.headers["set-cookie"].first?.contains("Max-Age=43200") == true)
            #expect(!answer.headers.description.contains(code))
            let cookie = try Self.cookie(answer)
            let page = try await service.ask(.GET, "/audit", cookie)
            #expect(page.status == 200)
            #expect(page.text.contains("anna") && page.text.contains("login link"))
            #expect(try await service.ask(.PUT, "/v1/lists/com.example.app", cookie, Array("[]".utf8)).status == 403)
            #expect(try await service.actions() == ["login-link", "token-create"])

            let again = try await Self.use(service, code)
            #expect(again.status == 401)
            #expect(again.headers["set-cookie"].isEmpty)

            service.clock.turn(by: 43_199)
            #expect(try await service.ask(.GET, "/metrics", cookie).status == 200)
            service.clock.turn(by: 1)
            #expect(try await service.ask(.GET, "/metrics", cookie).status == 401)
            #expect(try await service.ask(.GET, "/audit", cookie).status == 303)
        }
    }

    @Test("ends after ten minutes, and was never another service's")
    func endsAfterTenMinutesAndWasNeverAnotherServices() async throws {
        try await self.run { service in
            let (old, good) = (try await Self.code(service.store), try await Self.code(service.store))
            try await self.run { other in
                let status = try await Self.use(other, good).status
                #expect(status == 401)
            }
            service.clock.turn(by: LoginCode.seconds - 1)
            #expect(try await Self.use(service, good).status == 303)
            service.clock.turn(by: 1)
            #expect(try await Self.use(service, old).status == 401)
            #expect(try await service.actions() == ["login-link", "login-link", "token-create"])
        }
    }

    @Test("of many browsers that open it at once one is logged in", arguments: TestedStore.all)
    func ofManyBrowsersThatOpenItAtOnceOneIsLoggedIn(on tested: TestedStore) async throws {
        try await self.run(on: tested) { service in
            let code = try await Self.code(service.store)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 { group.addTask { try await Self.use(service, code).status } }
                return try await group.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
            }
            #expect(statuses == [303: 1, 401: 7])
            #expect(try await service.store.read { try $0.tokens().count } == 1)
        }
    }

    @Test("logging out ends its token; a token that a person made stays, for the programs that have it")
    func loggingOutEndsItsTokenATokenThatAPersonMadeStaysForTheProgramsThatHaveIt() async throws {
        try await self.run { service in
            let read = try await service.token(.read)
            let byToken = try await service.ask(.POST, "/login", Self.own, Array("token=\(read)".utf8))
            let byLink = try await Self.use(service, try await Self.code(service.store))
            for (answer, after) in [(byToken, 200), (byLink, 401)] {
                let cookie = try Self.cookie(answer)
                let page = try await service.ask(.GET, "/", cookie).text
                let name = PageFrame.tokenField
                let start = try #require(page.range(of: "name=\"\(name)\" value=\""))
                let csrf = page[start.upperBound...].prefix { $0 != "\"" }
                let out = try await service.ask(.POST, "/logout", cookie, Array("\(name)=\(csrf)".utf8))
                #expect(out.status == 303)
                #expect(try await service.ask(.GET, "/metrics", cookie).status == after)
            }
        }
    }

    @Test("nothing else is one, no form of another site uses one up, and a guess writes nothing")
    func nothingElseIsOneNoFormOfAnotherSiteUsesOneUpAndAGuessWritesNothing() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = WrappedStore(try open())
            try await RunningService.with(store) { service in
                let code = try await Self.code(store)
                // A write is refused now, with 503.
                store.failure = StoreError(.full, "the disk is full")
                let none = String(repeating: "0", count: 64)
                for guess in ["", "x", none, code.uppercased() + "A", String(code.dropLast())] {
                    let answer = try await Self.use(service, guess)
                    #expect(answer.status == 401, "\(guess)")
                    #expect(answer.headers["set-cookie"].isEmpty)
                    let page = try await service.ask(.GET, LoginCode.link(to: "", guess), Self.host)
                    #expect(guess.isEmpty || page.status == (guess == none ? 200 : 400), "\(guess)")
                }
                store.failure = nil
                for fields in [[("Sec-Fetch-Site", "cross-site")], [("Origin", "https://evil.example")]] {
                    let answer = try await Self.use(service, code, Self.host + fields)
                    #expect(answer.status == 403)
                }
                #expect(try await Self.use(service, code).status == 303)
            }
        }
    }

    @Test("stays usable while the disk is full, and a seventeenth ends the first")
    func staysUsableWhileTheDiskIsFullAndASeventeenthEndsTheFirst() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = WrappedStore(try open())
            try await RunningService.with(store) { service in
                var codes: [String] = []
                for second in 0...Int64(LoginCode.maximumOpen) {
                    codes.append(
                        try await Self.code(
                            store, at: Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 + second)))
                }
                #expect(try await Self.use(service, codes[0]).status == 401)
                store.failure = StoreError(.full, "the disk is full")
                #expect(try await Self.use(service, codes[1]).status == 503)
                store.failure = nil
                #expect(try await Self.use(service, codes[1]).status == 303)
            }
        }
    }

    @Test(
        "tokens of log-ins are forgotten a month after their end, when the next one comes; revoking one that ended does nothing"
    )
    func tokensOfLogInsAreForgottenAMonthAfterTheirEndWhenTheNextOneComes() async throws {
        try await self.run { service in
            _ = try await Self.use(service, try await Self.code(service.store))
            let id = try #require(try await service.store.read { try $0.tokens().first?.id })
            service.clock.turn(by: 43_200)
            let now = service.clock.now
            let isRevoked = try await service.store.write { try $0.revokeToken(id: id, at: now) }
            #expect(!isRevoked)
            service.clock.turn(by: AccessToken.keptAfterEnd + 1)
            let later = service.clock.now
            try await service.store.write(as: .leases) { try $0.put(BelievedTime(later)) }
            _ = try await Self.use(service, try await Self.code(service.store, at: service.clock.now))
            let ids = try await service.store.read { try $0.tokens().map(\.id) }
            #expect(ids.count == 1 && ids != [id])
        }
    }

    @Test("is not in what the service says of itself, however much it is asked to say; nor is the token of its log-in")
    func isNotInWhatTheServiceSaysOfItselfHoweverMuchItIsAskedToSay() async throws {
        let lines = NIOLockedValueBox("")
        var logger = Logger(label: "test") { _ in KeptLog(lines: lines) }
        logger.logLevel = .trace
        try await self.run(logger: logger) { service in
            let code = try await Self.code(service.store)
            _ = try await service.ask(.GET, LoginCode.link(to: "", code), Self.host)
            let cookie = try Self.cookie(try await Self.use(service, code))
            _ = try await Self.use(service, code)
            let secret = try #require(cookie.first(name: "Cookie")?.split(separator: "=").last.map(String.init))
            let said = lines.withLockedValue { $0 }
            #expect(!said.isEmpty)
            #expect(!said.contains(code) && !said.contains(secret))
            let bodies = try await service.store.read { store in
                try store.auditEntries(from: 1, limit: 10).map { "\($0.actor) \($0.detail)" }
            }
            #expect(bodies.allSatisfy { !$0.contains(code) && !$0.contains(secret) })
        }
    }
}

/// Keeps every line with all that stands beside it.
private struct KeptLog: LogHandler {
    let lines: NIOLockedValueBox<String>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        self.lines.withLockedValue { $0 += "\(event.message) \(self.metadata) \(event.metadata ?? [:])\n" }
    }
}
