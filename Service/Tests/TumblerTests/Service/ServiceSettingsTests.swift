// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CommandLineInterface
import Foundation
import PinListServer
import Testing

@testable import PinReportAnalysis
@testable import tumbler_service

@Suite("The service's configuration")
struct ServiceSettingsTests {
    private func shown(_ settings: ServiceSettings, _ name: String) -> String? {
        settings.shown.first { $0.name == name }.map { "\($0.value) (\($0.origin))" }
    }

    @Test("a flag is over the environment, the environment over the file, and the file over what is built in")
    func flagIsOverTheEnvironmentTheEnvironmentOverTheFile() async throws {
        try await withTemporaryFolder { folder in
            let file = try folder.write(
                "listen: 127.0.0.1:1\nadminListen: 127.0.0.1:2\nretention: {days: 3}\nedges: [192.0.2.0/24]\n",
                as: "s.yaml"
            ).path
            let settings = try ServiceSettings(
                flags: ["listen": "127.0.0.1:4"],
                environment: [
                    "TUMBLER_LISTEN": "127.0.0.1:5", "TUMBLER_ADMIN_LISTEN": "127.0.0.1:6",
                    "TUMBLER_MAXIMUM_CONNECTIONS": "99", "TUMBLER_RETENTION_MEGABYTES": "77",
                    "TUMBLER_REPORTS_SOURCE_BURST": "9",
                ], file: file)
            #expect(self.shown(settings, "listen") == "127.0.0.1:4 (flag)")
            #expect(self.shown(settings, "adminListen") == "127.0.0.1:6 (environment)")
            #expect(self.shown(settings, "retention.days") == "3 (\(file))")
            #expect(self.shown(settings, "retention.megabytes") == "77 (environment)")
            #expect(self.shown(settings, "database") == "sqlite (default)")
            #expect(settings.configuration.listen.port == 4)
            #expect(settings.configuration.adminListen?.port == 6)
            #expect(settings.configuration.maximumConnections == 99)
            #expect(settings.configuration.retention.days == 3)
            #expect(settings.configuration.retention.megabytes == 77)
            #expect(settings.configuration.reportLimits.sourceBurst == 9)
            #expect(settings.configuration.edges.count == 1)
        }
    }

    @Test(
        "what is wrong is said with its place, and what was meant",
        arguments: [
            ("lisen: 127.0.0.1:1\n", "s.yaml:1", "listen"), ("\nretention: {day: 3}\n", "s.yaml:2", "days"),
            ("listen: here\n", "s.yaml", "127.0.0.1:8480"), ("retention: {days: 0}\n", "s.yaml", "1 to 36500"),
            ("retention: {auditDays: 89}\n", "s.yaml", "90 to 36500"),
            ("trustedProxies: [10.0.0.0/99]\n", "s.yaml", "10.0.0.0/8"), ("tls: {certificate: a}\n", "tls", "both"),
            ("maximumConnections: 3\n", "s.yaml", "16 to 1048576"),
            ("alerts: [{type: mail}]\n", "s.yaml:1", "slack"), ("alerts: [{type: slack}]\n", "s.yaml:1", "urlFile"),
            ("openOnLoopback: yes\n", "s.yaml", "true or false"),
            ("openOnLoopback: true\ntrustedProxies: [127.0.0.1]\n", "trustedProxies", "login-link"),
            ("openOnLoopback: true\nedges: [192.0.2.0/24]\n", "edges", "login-link"),
            ("names: {a: {root: r, attestation: {}}}\n", "s.yaml:1", "appIds: [TEAMID.com.example.app]"),
            ("names: {a: {root: r, attestation: {appIds: [com.example.app]}}}\n", "s.yaml:1", "TEAMID"),
            (
                "names: {a: {root: r, attestation: {appIds: [ABCDE12345.a], environment: x}}}\n", "s.yaml:1",
                "production or development"
            ),
            ("names: {a: {}}\n", "s.yaml:1", "root"), ("names: {a: {root: gone.json}}\n", "gone.json", "no such file"),
        ])
    func whatIsWrongIsSaidWithItsPlaceAndWhatWasMeant(text: String, place: String, hint: String) async throws {
        try await withTemporaryFolder { folder in
            try folder.write(text, as: "s.yaml")
            let run = try await CommandRun.tumbler(["serve", "--config", "s.yaml", "--check"], in: folder)
            #expect(run.exitCode > 0, "\(run)")
            #expect(run.errorLines.count <= 2)
            #expect(run.errors.contains(place), "\(run)")
            #expect(run.errors.contains(hint), "\(run)")
        }
    }

    @Test("a value from the environment or from a flag that is none names where it came from")
    func valueFromTheEnvironmentOrFromAFlagThatIsNoneNamesWhereItCameFrom() throws {
        for (flags, environment, origin) in [
            (["listen": "x"], [:], "listen (flag)"), ([:], ["TUMBLER_LISTEN": "x"], "listen (environment)"),
        ] as [([String: String], [String: String], String)] {
            let error = #expect(throws: CommandError.self) {
                try ServiceSettings(flags: flags, environment: environment, file: nil)
            }
            #expect("\(error.map { "\($0)" } ?? "")".contains(origin))
        }
    }

    @Test("paths of the file are beside the file, wherever a command is typed; secrets are never printed")
    func pathsOfTheFileAreBesideTheFileWhereverACommandIsTypedSecretsAreNeverPrinted() async throws {
        try await withTemporaryFolder { folder in
            _ = try ServedLists(in: folder)
            let etc = folder.appendingPathComponent("etc")
            try FileManager.default.createDirectory(at: etc, withIntermediateDirectories: true)
            try etc.write("https://hooks.example/SECRET1\n", as: "url")
            try etc.write(" SECRET2 \n", as: "key")
            try etc.write(
                """
                dataDir: ./data
                tls: {certificate: tls/c.pem, key: /k.pem}
                names: {com.example.app: {root: ../root.json}}
                alerts: [{type: slack, urlFile: url}, {type: pagerduty, name: pager, keyFile: key}]
                """, as: "s.yaml")
            let file = etc.appendingPathComponent("s.yaml").path
            let settings = try ServiceSettings(flags: [:], environment: [:], file: file)
            #expect(settings.configuration.dataDirectory == etc.appendingPathComponent("data").path)
            #expect(settings.configuration.tls?.certificate == etc.appendingPathComponent("tls/c.pem").path)
            #expect(settings.configuration.tls?.key == "/k.pem")
            #expect(try settings.roots()["com.example.app"] == Array(try folder.contents(of: "root.json")))
            #expect(
                try settings.alerts().map(\.address) == [
                    "https://hooks.example/SECRET1", "https://events.pagerduty.com/v2/enqueue",
                ])
            #expect(try settings.alerts().map(\.routingKey) == ["", "SECRET2"])
            #expect(try settings.alerts().map(\.name) == ["slack-1", "pager"])
            for more in [[], ["--json"]] {
                let run = try await CommandRun.tumbler(
                    [
                        "serve", "--config", "etc/s.yaml", "--print-config", "--database",
                        "postgres://tumbler:SECRET3@db.example/tumbler",
                    ] + more, in: folder)
                run.expectResult()
                #expect(!run.output.contains("SECRET"), "\(run)")
                #expect(run.output.contains("pager"))
            }
            let open = try await CommandRun.tumbler(
                ["serve", "--print-config", "--database", "postgres://tumbler@db.example/tumbler"], in: folder)
            #expect(open.output.contains("database: postgres://tumbler@db.example/tumbler   # flag"))
        }
    }

    @Test(
        "two alerts of one name, and an address that is none or not of https, are refused without the address",
        arguments: [
            ("https://a.example/SECRET", "two alerts are called x"), ("SECRET", "does not hold a URL"),
            ("http://127.0.0.1:9/SECRET", "two alerts are called x"),
            ("http://a.example/SECRET", "over https, to loopback alone over http"),
            ("http://127.0.0.1.a.example/SECRET", "over https, to loopback alone over http"),
        ])
    func twoAlertsOfOneNameAndAnAddressThatIsNoneOrNotOfHttps(address: String, reason: String) async throws {
        try await withTemporaryFolder { folder in
            try folder.write(address, as: "url")
            let entry = "{type: webhook, name: x, urlFile: url}"
            // The names are compared before any secret is read.
            let entries = reason.hasPrefix("two") ? "\(entry), \(entry)" : entry
            try folder.write("alerts: [\(entries)]\n", as: "s.yaml")
            let run = try await CommandRun.tumbler(["serve", "--config", "s.yaml", "--check"], in: folder)
            #expect(run.exitCode != 0)
            #expect(run.errors.contains(reason), "\(run)")
            #expect(!run.errors.contains("SECRET"))
        }
    }
}
