// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
import Testing

@testable import tumbler

@Suite("What is typed wrongly is a usage error that shows what to type")
struct UsageErrorTests {
    @Test(
        "a URL in place of a host, a port that is none, and a server without TLS",
        arguments: [
            (["evaluate", "--host", "https://api.example.com/x", "--chain", "no.pem"], "write api.example.com"),
            (["pin", "api.example.com:99999"], "write api.example.com:443"),
            (["pin", "http://api.example.com/"], "write https://api.example.com"),
            (["pin", "https://"], "https://HOST"),
            (["gate", "https://a.example/", "--certificate", "no.pem"], "write a.example"),
            (["probe", "--host", "https://a.example/"], "write a.example"),
        ])
    func urlInPlaceOfAHostAPortThatIsNoneAndAServerWithoutTLS(command: [String], advice: String) async throws {
        try await withTemporaryFolder { folder in
            let run = try await CommandRun.tumbler(command, in: folder)
            run.expectError(64, hint: true)
            #expect(run.errors.contains(advice), "\(run)")
        }
    }

    @Test(
        "an address with a name and a password is refused, and the password is not repeated",
        arguments: [
            ["lint", "--published"], ["build", "-o", "-", "--published"], ["diff", "--published"], ["probe"],
            ["refresh", "--root", "file", "--state", "state", "--list-url"],
            ["fetch", "https://api.example.com/", "--root", "file", "--state", "state", "--list-url"],
            ["fetch"], ["pin"], ["status", "--server"],
        ])
    func addressWithANameAndAPasswordIsRefusedAndThePasswordIsNotRepeated(command: [String]) async throws {
        try await withTemporaryFolder { folder in
            try folder.write(ProjectText.good, as: "tumbler.yaml")
            try folder.write("root", as: "file")
            let run = try await CommandRun.tumbler(
                command + ["https://user:secret@127.0.0.1:1/v1/lists/com.example.app"], in: folder)
            run.expectError(64, hint: true)
            #expect(!run.errors.contains("secret"), "\(run)")
        }
    }

    @Test(
        "a command that is misspelt gets the nearest one, and a hint for its parent",
        arguments: [
            (["evalute"], "tumbler evaluate"), (["rotate", "stats"], "tumbler rotate status"),
            (["key", "sow", "x"], "tumbler key show"), (["help", "prob"], "tumbler probe"),
        ])
    func commandThatIsMisspeltGetsTheNearestOne(command: [String], nearest: String) throws {
        let failure = TypedCommand(command, of: Tumbler.self).failure
        #expect(failure?.exitCode == .usage)
        #expect(failure?.hint?.contains("did you mean \(nearest)?") == true, "\(failure?.hint ?? "")")
    }

    @Test("a command that is one has no such error, and its own help is named")
    func commandThatIsOneHasNoSuchError() {
        let typed = TypedCommand(["rotate", "status", "--nonsense"], of: Tumbler.self)
        #expect(typed.failure == nil && typed.path == "tumbler rotate status")
        #expect(TypedCommand(["fetch", "nonsense"], of: Tumbler.self).failure == nil)
        #expect(TypedCommand(["xyzxyzxyz"], of: Tumbler.self).failure?.hint == "tumbler --help lists them")
    }

    @Test(
        "an option that is misspelt gets the nearest one, of this program and of the service's",
        arguments: [
            (["evaluate", "--hots", "a.example"], "--host"), (["probe", "--conect-to", "x"], "--connect-to"),
            (["rotate", "next", "a.example", "--forse", "ready"], "--force"),
            (["token", "create", "--scop", "read"], "--scope"),
        ])
    func optionThatIsMisspeltGetsTheNearestOne(command: [String], nearest: String) async throws {
        try await withTemporaryFolder { folder in
            let run = try await CommandRun.tumbler(command, in: folder)
            run.expectError(64, hint: true)
            #expect(run.errors.contains("Did you mean '\(nearest)'?"), "\(run)")
        }
    }

    @Test("words that are values, options that are there, and those of another program are no misspelt options")
    func valuesAndOptionsThatAreThereAreNoMisspeltOptions() {
        for words in [
            ["evaluate", "--host", "a.example"], ["evaluate", "--host=a.example", "-x"], ["pin", "--xyzxyzxyzxyz"],
            ["intercept", "--upstream", "a.example", "--", "curl", "--upstrem"],
        ] {
            #expect(TypedCommand(words, of: Tumbler.self).unknownOption == nil, "\(words)")
        }
        #expect(
            TypedCommand(["evaluate", "--hots=a.example"], of: Tumbler.self).unknownOption
                == "Unknown option '--hots'. Did you mean '--host'?")
    }

    @Test(
        "an option that is like no other gets none, and the help of its command is named",
        arguments: [("status", "--xyzxyzxyzxyz"), ("lint", "--yes"), ("probe", "--lists")])
    func optionThatIsLikeNoOtherGetsNone(command: String, option: String) async throws {
        try await withTemporaryFolder { folder in
            let run = try await CommandRun.tumbler([command, option], in: folder)
            run.expectError(64, hint: true)
            #expect(run.errors.contains("Unknown option '\(option)'"), "\(run)")
            #expect(!run.errors.contains("Did you mean") && run.errors.contains("tumbler \(command) --help"), "\(run)")
        }
    }

    @Test("a date alone is its midnight in UTC; half a time is none")
    func dateAloneIsItsMidnightInUTC() throws {
        let option = try TimeOption.parse(["--at", "2027-03-15"])
        #expect(option.at?.description == "2027-03-15T00:00:00Z")
        for text in ["2027-3-15", "2027-03-15T", "2027-13-15", "2027-02-30", "20270315", "2027-03-15 "] {
            #expect(throws: (any Error).self) { _ = try TimeOption.parse(["--at", text]) }
        }
    }

    @Test("-o - is standard output, byte for byte; what is said of the file is a note then")
    func outputToStandardOutputIsByteForByte() async throws {
        try await withTemporaryFolder { folder in
            try await CommandRun.makeRoot(in: folder)
            try folder.write(MetadataFixture.list(), as: "list")
            let sign = ["sign", "list", "--root", "root.json", "--key", "pins", "--yes", "-o"]
            try await CommandRun.tumbler(sign + ["pins.json"], in: folder).expectSuccess()
            let combine = ["combine", "pins.json", "-o"]
            try await CommandRun.tumbler(combine + ["whole.json"], in: folder).expectSuccess()
            let run = try await CommandRun.tumbler(combine + ["-"], in: folder)
            #expect(run.exitCode == 0, "\(run)")
            let whole = try folder.contents(of: "whole.json")
            #expect(run.outputBytes == whole)
            #expect(run.errors.contains("tumbler: note: payload SHA-256 "), "\(run)")
            #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("-").path))
        }
    }

    @Test("a host in Unicode is the same as in the DNS")
    func hostInUnicodeIsTheSameAsInTheDNS() throws {
        let name = "xn--bcher-kva.example"
        for text in ["bücher.example", "BÜCHER.example", name] {
            #expect(try HostArgument.host(text).description == name)
            #expect(ServerAddress("\(text):443")?.host.description == name)
            #expect(ServerAddress("https://\(text)/x")?.host.description == name)
            let address = try #require(FetchAddress("https://\(text):8443/ü?x=1"))
            #expect(address.host.description == name && address.port == 8_443)
            #expect(address.hostHeader == "\(name):8443" && address.url().hasPrefix("https://\(name):8443/"))
            #expect(try ServiceAddress("https://\(text)/", from: "test").description == "https://\(name)")
        }
    }
}
