// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import NIOHTTP1
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore

@Suite("Logging in")
struct LogInTests {
    private static let host: HTTPHeaders = ["Host": "pins.example.com"]
    private static let own: HTTPHeaders = [
        "Host": "pins.example.com", "Origin": "https://pins.example.com", "Sec-Fetch-Site": "same-origin",
    ]

    private static func logIn(
        _ service: RunningService, _ secret: String, _ fields: HTTPHeaders = Self.own, next: String = "/lists"
    ) async throws -> RunningService.Answer {
        try await service.ask(.POST, "/login", fields, Array("token=\(secret)&next=\(next)".utf8))
    }

    private static func cookie(_ answer: RunningService.Answer) throws -> HTTPHeaders {
        let field = try #require(answer.headers["set-cookie"].first)
        return Self.host + [("Cookie", String(field.prefix { $0 != ";" }))]
    }

    private func run(_ body: @Sendable (RunningService) async throws -> Void) async throws {
        try await TestedStore.sqlite.withDatabase { open in
            try await RunningService.with(
                try open(),
                { $0.alerts = [AlertTarget(kind: .webhook, name: "ops", address: "http://127.0.0.1:9/secret")] }, body)
        }
    }

    @Test("a reader's token opens the pages by a cookie that scripts and other sites cannot use, until it is revoked")
    func readersTokenOpensThePagesByACookieThatScriptsAndOtherSitesCannotUse() async throws {
        try await self.run { service in
            let read = try await service.token(.read)
            let form = try await service.ask(.GET, "/login?next=%2Flists", Self.host)
            #expect(form.status == 200)
            #expect(form.text.contains(#"value="/lists""#))
            #expect(form.headers["content-security-policy"].count == 1)
            let answer = try await Self.logIn(service, read)
            #expect(answer.status == 303)
            #expect(answer.headers["location"] == ["/lists"])
            let field = try #require(answer.headers["set-cookie"].first)
            for flag in ["HttpOnly", "SameSite=Strict", "Secure", "Path=/", "Max-Age=43200"] {
                #expect(field.split(separator: ";").contains { $0.drop { $0 == " " } == flag }, "\(flag) in \(field)")
            }
            let cookie = try Self.cookie(answer)
            #expect(try await service.ask(.GET, "/lists", cookie).status == 200)
            #expect(try await service.ask(.GET, "/metrics", cookie).status == 200)
            // A browser takes no Secure cookie of plain HTTP, which is all there is on loopback.
            let local = try await Self.logIn(service, read, ["Host": "localhost:8480"])
            #expect(local.headers["set-cookie"].first?.contains("Secure") == false)
            #expect(local.headers["set-cookie"].first?.contains("HttpOnly") == true)
            try await service.revoke(read)
            #expect(try await service.ask(.GET, "/lists", cookie).status == 303)
        }
    }

    @Test("no other token opens them, and no form of another site")
    func noOtherTokenOpensThemAndNoFormOfAnotherSite() async throws {
        try await self.run { service in
            let read = try await service.token(.read)
            for secret in ["", "x", try await service.token(.publish, ["a"]), read + "0"] {
                let answer = try await Self.logIn(service, secret)
                #expect(answer.status == 401)
                #expect(answer.headers["set-cookie"].isEmpty)
            }
            for fields in [
                [("Origin", "https://evil.example")], [("Origin", "null")], [("Sec-Fetch-Site", "cross-site")],
                [("Sec-Fetch-Site", "same-site")], [("Origin", "https://pins.example.com.evil.example")],
                [("Origin", "https://pins.example.com"), ("Sec-Fetch-Site", "cross-site")],
            ] {
                let answer = try await Self.logIn(service, read, Self.host + fields)
                #expect(answer.status == 403, "\(fields)")
                #expect(answer.headers["set-cookie"].isEmpty)
            }
        }
    }

    @Test(
        "no log-in leads away from the site",
        arguments: [
            "//evil.example", "https://evil.example/", "/%5Cevil.example", "%2F%2Fevil.example", "/%252Fevil.example",
            "%252F%252Fevil.example", "javascript:alert(1)", "", "/a%0d%0aSet-Cookie:%20x=y", "/%09/evil.example",
        ])
    func noLogInLeadsAwayFromTheSite(_ next: String) async throws {
        try await self.run { service in
            let answer = try await Self.logIn(service, try await service.token(.read), next: next)
            #expect(answer.status == 303)
            let location = try #require(answer.headers["location"].first)
            #expect(location.hasPrefix("/") && !location.hasPrefix("//") && !location.contains("\\"))
            #expect(answer.headers["set-cookie"].count == 1)
        }
    }

    @Test(
        "a form of any bytes is answered", arguments: ["%", "%zz=%", "token=%ff%", "=&&=", "\u{0}\u{ff} {}|^", "token"])
    func formOfAnyBytesIsAnswered(_ body: String) async throws {
        try await self.run { service in
            #expect(try await service.ask(.POST, "/login", Self.own, Array(body.utf8)).status == 401)
            #expect(try await service.ask(.POST, "/logout", Self.own, Array(body.utf8)).status == 403)
            #expect(try await service.ask(.GET, "/login?next=\(body.isEmpty ? "" : "%")", Self.host).status == 200)
            let large = try await service.ask(.POST, "/login", Self.own, [UInt8](repeating: 0x61, count: 8_193))
            #expect(large.status == 413)
        }
    }

    @Test("fields are read as the URL standard says")
    func fieldsAreReadAsTheURLStandardSays() {
        let fields = FormBody(Array("a=1+2%2B3&b=%C3%A4&a=9&c&%zz=%4&=x&d=e=f".utf8)).fields
        #expect(fields == ["a": "1 2+3", "b": "ä", "c": "", "%zz": "%4", "": "x", "d": "e=f"])
    }

    @Test("forms need the token of their page: for the test of an alarm, and for logging out")
    func formsNeedTheTokenOfTheirPageForTheTestOfAnAlarmAndForLoggingOut() async throws {
        try await self.run { service in
            let cookie = try Self.cookie(try await Self.logIn(service, try await service.token(.read)))
            let page = try await service.ask(.GET, "/alarms", cookie)
            let name = PageFrame.tokenField
            let start = try #require(page.text.range(of: "name=\"\(name)\" value=\""))
            let csrf = String(page.text[start.upperBound...].prefix { $0 != "\"" })
            #expect(csrf.count == 64)
            let wrong = String(repeating: "0", count: 64)
            let own = cookie + [("Origin", "https://pins.example.com")]
            let target = "&\(AlarmsPage.targetField)=ops"
            for (token, fields, status) in [
                (wrong, own, 403), ("", own, 403), (csrf, cookie + [("Origin", "https://evil.example")], 403),
                (csrf, Self.host, 401), (csrf, own, 303),
            ] as [(String, HTTPHeaders, Int)] {
                let answer = try await service.ask(
                    .POST, "/alarms/test", fields, Array("\(name)=\(token)\(target)".utf8))
                #expect(answer.status == status)
            }
            let due = try await service.store.read { store in
                try store.connection.rows("SELECT target, body FROM notification", [])
                    .map { (try $0.text(0), AlarmEvent(try $0.blob(1))) }
            }
            #expect(due.map(\.0) == ["ops"])
            #expect(due.first?.1?.phase == .test)
            #expect(try await service.actions() == ["alert-test"])
            let named = try await service.store.read { (try $0.newestAuditEntry()?.actor, try $0.tokens().first?.id) }
            #expect(named.0 == named.1)
            // Three an hour, from whichever user's pages they come.
            let body = Array("\(name)=\(csrf)\(target)".utf8)
            var answers: [Int] = []
            for _ in 0..<3 { answers.append(try await service.ask(.POST, "/alarms/test", own, body).status) }
            #expect(answers == [303, 303, 429])
            let late = try await service.ask(.POST, "/alarms/test", own, body)
            #expect(late.headers["retry-after"] == ["3600"])
            let rung = try await service.store.read {
                try $0.connection.rows("SELECT 1 FROM notification", []).count
            }
            #expect(rung == 3)
            #expect(try await service.ask(.POST, "/logout", own, Array("\(name)=\(wrong)".utf8)).status == 403)
            let out = try await service.ask(.POST, "/logout", own, Array("\(name)=\(csrf)".utf8))
            #expect(out.status == 303)
            #expect(out.headers["set-cookie"].first?.contains("Max-Age=0") == true)
            #expect(!page.text.contains("127.0.0.1:9"))
        }
    }
}
