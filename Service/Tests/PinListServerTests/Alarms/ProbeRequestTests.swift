// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import NIOHTTP1
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("Results of probes, handed in")
struct ProbeRequestTests {
    private static let path = "/v1/lists/com.example.app/probe"

    /// Runs a service that serves a list of two hosts, with a token for their probes.
    private static func with(
        _ body:
            @Sendable (RunningService, @Sendable (String) async throws -> RunningService.Answer) async throws -> Void
    ) async throws {
        let repository = try RepositorySimulator.story([try .pinned("api.example.com"), try .pinned("www.example.com")])
        try await TestedStore.sqlite.withDatabase { open in
            try await RunningService.with(try open(), { $0.roots = repository.anchors }) { service in
                let publisher = try await service.token(.publish, ["com.example.app"])
                #expect(
                    try await service.publish([repository.roots[0], repository.lists[0]], token: publisher).status
                        == 200)
                let token = try await service.token(.probe, ["com.example.app"])
                try await body(service) { text in
                    try await service.ask(
                        .POST, Self.path, ["Authorization": "Bearer \(token)"], Array(text.utf8))
                }
            }
        }
    }

    @Test("a probe token speaks of listed hosts alone: 3,000 invented ones are refused, and nothing is stored")
    func probeTokenSpeaksOfListedHostsAlone3000InventedOnesAreRefused() async throws {
        try await Self.with { service, push in
            let invented = (0..<3_000).map { #"{"host": "made-up-\#($0).example.net", "ok": false, "error": "x"}"# }
            let listed = #"{"host": "api.example.com", "ok": false, "verdict": "block"}"#
            let answer = try await push("{\"hosts\": [\(([listed] + invented).joined(separator: ", "))]}")
            #expect(answer.status == 422)
            #expect(answer.code == "not-listed")
            #expect(answer.member("detail")?.contains("made-up-0.example.net, made-up-1.example.net") == true)
            #expect(answer.member("detail")?.hasSuffix(" and 2990 more") == true)
            // A host below an entry is none of its domains.
            let below = try await push(#"{"hosts": [{"host": "a.api.example.com", "ok": false}]}"#)
            #expect(below.status == 422)
            #expect(try await service.store.read { try $0.probes().isEmpty })
            #expect(try await push("{\"hosts\": [\(listed)]}").status == 202)
            #expect(try await service.store.read { try $0.probes().map(\.host) } == ["api.example.com"])
        }
    }

    @Test("of a name under which nothing is published, and of a host that is too large, nothing is stored")
    func ofANameUnderWhichNothingIsPublishedAndOfAHostThatIsTooLargeNothingIsStored() async throws {
        try await Self.with { service, push in
            let large =
                #"{"host": "api.example.com", "ok": false, "error": "\#(String(repeating: "x", count: 65_536))"}"#
            #expect(try await push("{\"hosts\": [\(large)]}").code == "malformed")
            let many = String(repeating: "0, ", count: ProbeFacts.maximumValues) + "0"
            let deep = #"{"host": "api.example.com", "ok": false, "notes": [\#(many)]}"#
            #expect(try await push("{\"hosts\": [\(deep)]}").code == "malformed")
            let other = try await service.token(.probe, ["com.example.other"])
            let answer = try await service.ask(
                .POST, "/v1/lists/com.example.other/probe", ["Authorization": "Bearer \(other)"],
                Array(#"{"hosts": []}"#.utf8))
            #expect(answer.status == 404)
            #expect(try await service.store.read { try $0.probes().isEmpty })
        }
    }

    @Test("a host that was not reached is shown as that, and its last result still counts")
    func hostThatWasNotReachedIsShownAsThatAndItsLastResultStillCounts() async throws {
        try await Self.with { service, push in
            let well = #"{"host": "api.example.com", "ok": true, "verdict": "allow"}"#
            let missed = #"{"ok": false, "error": "no route"}"#
            #expect(try await push("{\"hosts\": [\(well)]}").status == 202)
            service.clock.turn(by: 60)
            let hosts = ["api.example.com", "www.example.com"].map {
                missed.replacingOccurrences(of: "{", with: "{\"host\": \"\($0)\", ")
            }
            #expect(try await push("{\"hosts\": [\(hosts.joined(separator: ", "))]}").status == 202)
            let metrics = try await service.ask(.GET, "/metrics").text
            let labels = #"{name="com.example.app",host="api.example.com"}"#
            #expect(metrics.contains("tumbler_probe_ok\(labels) 1\n"))
            #expect(metrics.contains("tumbler_probe_reached\(labels) 0\n"))
            // The job runs.
            let time = service.clock.now.secondsSince1970
            #expect(metrics.contains("tumbler_probe_time_seconds\(labels) \(time)\n"))
            #expect(!metrics.contains(#"tumbler_probe_ok{name="com.example.app",host="www.example.com"}"#))
            let status = try await service.ask(.GET, "/v1/status").text
            #expect(status.contains("not reached at 2026-11-21T00:01:00Z: no route"))
        }
    }

    @Test(
        "each alarm of a probe leads to the page of hosts",
        arguments: [Alarm.Kind.probeFailed, .probeUnreached, .probeMissing, .certificateExpiry, .revokedCertificate])
    func eachAlarmOfAProbeLeadsToThePageOfHosts(kind: Alarm.Kind) {
        let alarm = StoredAlarm(
            key: "\(kind.rawValue):a", kind: kind.rawValue, severity: "notice", detail: "x", since: TurnedClock.start,
            endedAt: nil, message: nil, told: nil, acknowledgement: nil)
        #expect(DashboardPages.alarm(alarm, []).path == "/hosts")
    }

    @Test("one address of several that the probe missed is a notice that names it; without a route it is none")
    func oneAddressOfSeveralThatTheProbeMissedIsANoticeThatNamesIt() async throws {
        try await Self.with { service, push in
            func result(_ ok: Bool, _ addresses: [(String, String?)]) -> String {
                let rest = addresses.map { address, error in
                    let verdict = error == nil ? "\"allow\"" : "null"
                    let why = error.map { "\"\($0)\"" } ?? "null"
                    return #"{"address": "\#(address)", "verdict": \#(verdict), "reason": null, "pin": null, "#
                        + #""refusedBy": [], "error": \#(why)}"#
                }
                return #"{"hosts": [{"host": "api.example.com", "ok": \#(ok), "verdict": "allow", "#
                    + #""path": [], "addresses": [\#(rest.joined(separator: ", "))]}]}"#
            }
            let names = try await service.store.read { store in
                try #require(try store.roots(of: "com.example.app").first)
            }
            func alarms() async throws -> [String] {
                let parts = ServiceParts.story(
                    service.store, anchors: ["com.example.app": names], clock: service.clock)
                _ = try await parts.lists.reload(from: service.store)
                return AlarmRules.alarms(try await parts.overview().alarmFacts).filter { $0.kind == .probeUnreached }
                    .map { "\($0.severity) \($0.key): \($0.detail)" }
            }
            let well = ("192.0.2.1:443", nil as String?)
            let missed = ("192.0.2.2:443", "connection timed out" as String?)
            #expect(try await push(result(false, [well, missed, ("192.0.2.3:443", nil)])).status == 202)
            #expect(
                try await alarms() == [
                    "notice probe-unreached:api.example.com:com.example.app: A probe did not reach the host: "
                        + "api.example.com, at 2026-11-21T00:00:00Z: 1 of its 3 addresses: 192.0.2.2:443 (connection timed out)"
                ])
            let status = try await service.ask(.GET, "/v1/status").text
            #expect(status.contains("not reached: 1 of its 3 addresses: 192.0.2.2:443 (connection timed out)"))
            // Many are counted, and the first are named.
            service.clock.turn(by: 60)
            let many = (0..<20).map { ("192.0.2.\($0):443", "x" as String?) }
            #expect(try await push(result(false, [("[2001:db8::1]:443", nil)] + many)).status == 202)
            #expect(try await alarms().first?.hasSuffix("192.0.2.3:443 (x) and 16 more") == true)
            // The probe has no route to it, and calls the host well.
            service.clock.turn(by: 60)
            #expect(try await push(result(true, [well, missed])).status == 202)
            #expect(try await alarms() == [])
        }
    }

    @Test("what refuses counts when over 1 % do: a tolerated refusal hides no certificate's end, another is critical")
    func whatRefusesCountsWhenOver1PercentDo() async throws {
        try await Self.with { service, push in
            let names = try await service.store.read { store in
                try #require(try store.roots(of: "com.example.app").first)
            }
            @Sendable func alarms(_ host: String) async throws -> [String] {
                service.clock.turn(by: 60)
                let found = #"{"hosts": [{"host": "api.example.com", "ok": false, "verdict": "allow", \#(host)}]}"#
                #expect(try await push(found).status == 202)
                let parts = ServiceParts.story(
                    service.store, anchors: ["com.example.app": names], clock: service.clock)
                _ = try await parts.lists.reload(from: service.store)
                return AlarmRules.alarms(try await parts.overview().alarmFacts).filter {
                    [.certificateExpiry, .probeFailed].contains($0.kind)
                }.map { "\($0.kind.rawValue) \($0.severity): \($0.detail)" }
            }
            let path = #""path": [{"pin": "x", "notAfter": "2026-12-01T00:00:00Z"}]"#
            // 0.4 % hold list 3, and the host is not well because its certificate ends.
            for share in ["0.004", "0.01", "4e-05"] {
                let found = try await alarms(#""refusedBy": [3], "refusing": \#(share), \#(path)"#)
                #expect(found.count == 1 && found.first?.hasPrefix("certificate-expiry warning") == true, "\(found)")
            }
            let unknown = try await alarms(#""refusedBy": [], "refusing": 0.05, "path": []"#)
            #expect(
                unknown == [
                    "probe-failed critical: Apps refuse what the server presents: api.example.com, apps refuse it that hold "
                        + "a list that is not in lists/: 5 % of the installations"
                ])
            let both = try await alarms(#""refusedBy": [3, 4], "refusing": 0.0101, \#(path)"#)
            #expect(both.count == 2)
            #expect(
                both.first?.hasSuffix(
                    "that still hold list 3, 4, or one that is not in lists/: 1.1 % of the installations") == true,
                "\(both)")
            // All do, and nothing was measured.
            for share in ["1", "null"] {
                let found = try await alarms(#""refusedBy": [3], "refusing": \#(share), "path": []"#)
                #expect(found.map { $0.prefix(12) } == ["probe-failed"], "\(share)")
            }
        }
    }

    @Test("a revoked certificate that a probe saw served is critical, until a probe sees another")
    func revokedCertificateThatAProbeSawServedIsCritical() async throws {
        try await Self.with { service, push in
            func result(_ ok: Bool, _ revoked: String) -> String {
                #"{"hosts": [{"host": "api.example.com", "ok": \#(ok), "verdict": "allow", "path": [], "#
                    + #""revoked": [\#(revoked)]}]}"#
            }
            let names = try await service.store.read { store in
                try #require(try store.roots(of: "com.example.app").first)
            }
            func alarms() async throws -> [String] {
                let parts = ServiceParts.story(
                    service.store, anchors: ["com.example.app": names], clock: service.clock)
                _ = try await parts.lists.reload(from: service.store)
                return AlarmRules.alarms(try await parts.overview().alarmFacts).filter {
                    [.revokedCertificate, .probeFailed].contains($0.kind)
                }.map { "\($0.severity) \($0.key): \($0.detail)" }
            }
            let leaf =
                #"{"index": 0, "issuer": "sha256/x", "serial": "0a1b", "since": "2026-11-20T08:00:00Z", "#
                + #""reason": "keyCompromise"}"#
            #expect(try await push(result(false, leaf)).status == 202)
            #expect(
                try await alarms() == [
                    "critical revoked-certificate:api.example.com:com.example.app: A server presents a certificate that "
                        + "its issuer revoked: api.example.com, seen at 2026-11-21T00:00:00Z: "
                        + "its certificate with the serial number 0a1b is revoked by its issuer since "
                        + "2026-11-20T08:00:00Z (keyCompromise)"
                ])
            #expect(try await service.ask(.GET, "/v1/status").text.contains("0a1b is revoked by its issuer"))
            let hosts = try await service.ask(.GET, "/hosts").text
            #expect(hosts.contains("served, and revoked: its certificate with the serial number 0a1b is revoked"))
            // What says little of itself counts, too.
            service.clock.turn(by: 60)
            #expect(try await push(result(false, #"{"index": 1}, 7"#)).status == 202)
            #expect(try await alarms().count == 1)
            service.clock.turn(by: 60)
            #expect(try await push(result(true, "")).status == 202)
            #expect(try await alarms() == [])
        }
    }
}
