// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import Foundation
import Testing

@testable import tumbler

@Suite("Options of connections, the same on every command")
struct ConnectionOptionsTests {
    /// A command of each kind that connects.
    private static let commands = [
        ["fetch", "https://nosuch.invalid/", "--pin", ProjectText.pin("a")], ["pin", "nosuch.invalid:443"],
        ["refresh", "--list-url", "https://nosuch.invalid/v1/lists/a", "--root", "file", "--state", "state"],
        ["ct", "nosuch.invalid:443", "--logs", "file"], ["status"], ["alarms"], ["alarms", "list"],
        ["alarms", "acknowledge", "key"], ["alarms", "silence", "key", "--for", "1h", "--because", "x"],
        ["alarms", "unsilence", "key"], ["publish"], ["probe"], ["lint"], ["diff"], ["release"],
        ["build", "-o", "-"], ["gate", "a.example", "--certificate", "file"],
        ["rotate", "status"], ["rotate", "next", "a.example"], ["rotate", "plan", "a.example", "--pin", "sha256/x"],
        ["rotate", "abort", "a.example"], ["rotate", "emergency", "a.example", "--key", "file"],
        ["sighting", "file"], ["init", "x", "--name", "a"], ["revocations"],
    ]

    @Test("no command has some of them, none that has them is left out here, and the contract names the one without")
    func noCommandThatConnectsIsLeftOut() async throws {
        let options = [
            "--cacert", "--ca-file", "--connect-to", "--proxy", "--ipv4", "-4", "--ipv6", "-6", "--connect-timeout",
            "--max-time",
        ]
        try await withTemporaryFolder { folder in
            let all = try await DescribedCommand.all(of: "tumbler", in: folder)
            let connecting = all.filter { $0.value.has("--connect-to") || $0.value.has("--cacert") }
            #expect(connecting.count > 20)
            for (words, command) in connecting {
                #expect(options.filter { !command.has($0) }.isEmpty, "\(words)")
                let words = words.split(separator: " ").map(String.init)
                #expect(Self.commands.contains { $0.starts(with: words) }, "\(words) is not tried below")
            }
            // Its --proxy makes the bench one.
            let intercept = try #require(all["intercept"])
            #expect(intercept.has("--proxy") && connecting["intercept"] == nil)
            let contract = try SharedData.package.appendingPathComponent("docs").text(of: "formats.md")
            #expect(contract.contains("**Connections.** Every command that connects, except `intercept`, takes"))
        }
    }

    private static let places = [
        "--connect-to", "a.example:443:127.0.0.1:8443", "--connect-to", "b.example:[::1]:8443", "--proxy",
        "http://127.0.0.1:3128", "--connect-timeout", "0.5", "--max-time", "2m",
    ]

    // Of all forms that they have a few: they are one group of options, and a command takes long to parse.
    @Test("each command takes all of them, and says what is wrong with one", arguments: Self.commands)
    func eachCommandTakesAllOfThemAndSaysWhatIsWrongWithOne(command: [String]) throws {
        for more in [["--cacert", "ca.pem", "-4"], ["--ca-file", "ca.pem", "--ipv6"]] {
            #expect(throws: Never.self) { _ = try Tumbler.parseAsRoot(command + Self.places + more) }
        }
        for wrong in [["-4", "-6"], ["--max-time", "nan"]] {
            let error = #expect(throws: (any Error).self) { _ = try Tumbler.parseAsRoot(command + wrong) }
            #expect(error.map { Tumbler.exitCode(for: $0).rawValue } == 64, "\(wrong)")
        }
    }

    @Test("each form of them is taken, and what is wrong with one is a mistake of the caller")
    func eachFormOfThemIsTakenAndWhatIsWrongWithOneIsAMistakeOfTheCaller() {
        for more in [["-4"], ["--ipv4"], ["-6"], ["--ipv6"], ["--cacert", "ca.pem"], ["--ca-file", "ca.pem"]] {
            #expect(throws: Never.self) { _ = try ConnectionOptions.parse(Self.places + more) }
        }
        for wrong in [
            ["-4", "-6"], ["--proxy", "socks5://127.0.0.1:1"], ["--connect-timeout", "0"], ["--max-time", "nan"],
            ["--max-time", "-1"], ["--connect-to", "a.example"], ["--connect-to", "a:1:b:99999"],
        ] {
            let error = #expect(throws: (any Error).self) { _ = try ConnectionOptions.parse(wrong) }
            #expect(error.map { ConnectionOptions.exitCode(for: $0).rawValue } == 64, "\(wrong)")
        }
    }

    @Test("a proxy is asked for the server, and what it refuses is said in a sentence")
    func proxyIsAskedForTheServerAndWhatItRefusesIsSaidInASentence() async throws {
        for (answer, reason) in [
            ("407 Proxy Authentication Required", "asks for a name and a password"),
            ("403 Forbidden", "did not open a tunnel"),
        ] {
            try await withTemporaryFolder { folder in
                try await LoopbackPort.with(.says("HTTP/1.1 \(answer)\r\nContent-Length: 0\r\n\r\n")) { port in
                    let run = try await CommandRun.shell(
                        #"NO_PROXY= no_proxy= HTTPS_PROXY=http://127.0.0.1:\#(port) "$0" pin nosuch.invalid:443"#,
                        in: folder)
                    run.expectError(2)
                    #expect(run.errors.contains(reason), "\(run)")
                }
            }
        }
    }

    @Test("a host that NO_PROXY names is asked directly; a proxy that cannot be used is said")
    func hostThatNoProxyNamesIsAskedDirectlyAProxyThatCannotBeUsedIsSaid() async throws {
        try await withTemporaryFolder { folder in
            let exempt = try await CommandRun.shell(
                #"HTTPS_PROXY=http://127.0.0.1:1 NO_PROXY=invalid "$0" pin nosuch.invalid:443"#, in: folder)
            exempt.expectError(2)
            #expect(exempt.errors.contains("no such host"), "\(exempt)")
            let unused = try await CommandRun.shell(
                #"no_proxy= HTTPS_PROXY=socks5://127.0.0.1:1 "$0" pin nosuch.invalid:443"#, in: folder)
            #expect(unused.exitCode == 2 && unused.errors.contains("the proxy of HTTPS_PROXY is not used"), "\(unused)")
        }
    }

    @Test("where nothing listens is said: a proxy that is down is not taken for the server")
    func whereNothingListensIsSaid() async throws {
        try await withTemporaryFolder { folder in
            for (proxy, words) in [
                (
                    "http://127.0.0.1:1",
                    "the connection was refused: nothing listens on 127.0.0.1:1, or a firewall rejects it"
                ),
                ("http://proxy.invalid:3128", "no such host as proxy.invalid"),
            ] {
                for command in [
                    "pin nosuch.invalid:443", "fetch https://nosuch.invalid/ --pin \(ProjectText.pin("a"))",
                ] {
                    let run = try await CommandRun.shell(
                        "NO_PROXY= no_proxy= HTTPS_PROXY=\(proxy) \"$0\" \(command)", in: folder)
                    run.expectError(2)
                    #expect(run.errors.contains(words), "\(run)")
                }
            }
        }
    }

    @Test("a family that a host has no address of is said, and not tried")
    func familyThatAHostHasNoAddressOfIsSaidAndNotTried() async throws {
        try await withTemporaryFolder { folder in
            let run = try await CommandRun.tumbler(["pin", "127.0.0.1:443", "--ipv6"], in: folder)
            run.expectError(2, hint: true)
            #expect(run.errors.contains("127.0.0.1 has no IPv6 address"), "\(run)")
        }
    }

    @Test("no error of a library reaches a person: no type, no path of a source file", .needsOpenSSL)
    func noErrorOfALibraryReachesAPerson() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await openssl.run(
                "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout server.key -out server.pem -days 3650"
                    + " -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1", in: folder)
            try folder.write("x", as: "token")
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: folder.appendingPathComponent("token").path)
            try folder.write("{}", as: "root.json")
            try await withOpenSSLServer(openssl, ["-cert", "server.pem", "-key", "server.key"], in: folder) { port in
                let address = "https://127.0.0.1:\(port)"
                for command in [
                    ["status", "--server", address, "--token-file", "token"],
                    ["fetch", "\(address)/", "--pin", ProjectText.pin("a")],
                    ["diff", "-C", ".", "--published", "\(address)/v1/lists/a"],
                ] {
                    try folder.write(ProjectText.good, as: "tumbler.yaml")
                    let run = try await CommandRun.tumbler(command, in: folder)
                    #expect(run.exitCode != 0, "\(run)")
                    for raw in ["NIO", "BoringSSL", ".swift", ".cc", "Error(", "errno"] {
                        #expect(!run.errors.contains(raw), "\(run)")
                    }
                }
                let run = try await CommandRun.tumbler(
                    ["status", "--server", address, "--token-file", "token"], in: folder)
                #expect(run.errors.contains("its certificate is not trusted here"), "\(run)")
                #expect(run.errors.contains("--cacert"), "\(run)")
            }
        }
    }
}
