// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CommandLineInterface
import Foundation
import NIOHTTP1
import Testing

@testable import tumbler

@Suite("The service's address and token")
struct ServiceAccessTests {
    @Test(
        "an address is https, or http to this machine itself",
        arguments: [
            "http://pins.example.com", "ftp://pins.example.com", "pins.example.com", "https://", "",
            "https://user:password@pins.example.com", "https://pins.example.com?x=1", "https://pins.example.com#x",
            "https://pins.example.com\r\nX: y",
        ])
    func addressIsHttpsOrHttpToThisMachineItself(text: String) async throws {
        let failure = #expect(throws: CommandError.self) { try ServiceAddress(text, from: "--server") }
        #expect(failure?.exitCode == .usage)
        #expect(failure?.message.contains("password") == false)
        #expect(throws: CommandError.self) { try ServiceAddress("http://127.0.0.1.example.com", from: "--server") }
    }

    @Test("an address may have a path, and slashes at its end")
    func addressMayHaveAPathAndSlashesAtItsEnd() throws {
        let address = try ServiceAddress("https://pins.example.com/tumbler//", from: "--server")
        #expect(address.list("com.example.app") == "https://pins.example.com/tumbler/v1/lists/com.example.app")
        #expect(!address.isLoopback)
        #expect(try ServiceAddress("http://[::1]:8480", from: "--server").isLoopback)
    }

    @Test(
        "a token is one line that cannot break out of its header",
        arguments: [
            "", "\n", "two words", "a\r\nX-Evil: yes", "a\u{0}b", "tökén", "a\nb", "a\nhttp://pins.example.com",
            "a\nhttps://a.example\nhttps://b.example",
        ])
    func tokenIsOneLineThatCannotBreakOutOfItsHeader(text: String) async throws {
        try await withTemporaryFolder { folder in
            try folder.writeToken(text)
            let failure = #expect(throws: CommandError.self) {
                try ServiceToken(file: folder.appendingPathComponent("token").path)
            }
            #expect(failure?.exitCode == .undecided)
            #expect(failure?.message.contains("Evil") == false)
        }
    }

    @Test("a token comes from a file of bounded size, and is never printed")
    func tokenComesFromAFileOfBoundedSizeAndIsNeverPrinted() async throws {
        try await withTemporaryFolder { folder in
            _ = try ServedLists(in: folder)
            try folder.writeToken(String(repeating: "a", count: ServiceToken.maximumLength + 1), as: "huge")
            let address = ["--server", "http://127.0.0.1:1"]
            let huge = try await CommandRun.tumbler(
                ["publish", "root.json", "--token-file", "huge"] + address, in: folder)
            huge.expectError(2)
            let missing = try await CommandRun.tumbler(
                ["publish", "root.json", "--token-file", "nosuch"] + address, in: folder)
            missing.expectError(2)
            let none = try await CommandRun.tumbler(["publish", "root.json"] + address, in: folder)
            none.expectError(64, hint: true)
            let nowhere = try await CommandRun.tumbler(
                ["publish", "root.json", "--token-file", "token"], in: folder)
            nowhere.expectError(64, hint: true)
        }
    }

    @Test(
        "a token that names its service goes to no other, whatever a checkout says: nothing is sent",
        arguments: [
            ["lint"], ["release", "--yes"], ["release", "--yes", "--no-publish"], ["publish"], ["status"], ["alarms"],
            ["rotate", "status"], ["probe", "--push"], ["probe"],
            ["gate", "api.example.com", "--certificate", "project/keys/pins.pem.pub"],
        ])
    func tokenThatNamesItsServiceGoesToNoOtherWhateverACheckoutSays(command: [String]) async throws {
        try await RecordingService.with({ _ in .says(404, [:], "") }) { thief in
            try await withTemporaryFolder { folder in
                let entry = "api.example.com=\(ProjectText.pin("a")),\(ProjectText.pin("b"))"
                try await CommandRun.tumbler(
                    ["init", "project", "--name", "com.example.app", "--insecure-plaintext", "--domain", entry],
                    in: folder
                ).expectSuccess()
                let source = try folder.text(of: "project/tumbler.yaml")
                try folder.write(source + "\nserver: \(thief.address)\n", as: "project/tumbler.yaml")
                try folder.writeToken("tumbler_0123456789abcdef_00ff\nhttps://pins-admin.example.com")
                let run = try await CommandRun.tumbler(
                    command + ["-C", "project", "--token-file", "token"], in: folder)
                #expect(run.exitCode == 64 && run.output.isEmpty, "\(run)")
                #expect(run.errors.contains("is for https://pins-admin.example.com"), "\(run)")
                #expect(thief.requests.isEmpty, "\(thief.requests.map(\.path))")
            }
        }
    }

    @Test("a token that names its service goes there: by every spelling of one origin, and by no other")
    func tokenThatNamesItsServiceGoesThereByEverySpellingOfOneOrigin() async throws {
        try await withTemporaryFolder { folder in
            try folder.writeToken("tumbler_0123456789abcdef_00ff\r\nhttps://Pins.example.com/\r\n")
            let token = try ServiceToken(file: folder.appendingPathComponent("token").path)
            for same in [
                "https://pins.example.com", "https://pins.example.com:443/tumbler", "HTTPS://PINS.example.com",
            ] {
                try token.expect(try ServiceAddress(same, from: "--server"))
            }
            for other in [
                "https://pins.example.com:8443", "https://pins.example.com.evil.example", "https://example.com",
                "http://127.0.0.1",
            ] {
                let failure = #expect(throws: CommandError.self) {
                    try token.expect(try ServiceAddress(other, from: "--server"))
                }
                #expect(failure?.exitCode == .usage && failure?.hint != nil)
            }
        }
    }

    @Test("a token that other users can open is refused, and nothing is sent", arguments: [0o644, 0o640, 0o604, 0o606])
    func aTokenThatOtherUsersCanOpenIsRefusedAndNothingIsSent(mode: Int) async throws {
        let answer = RecordingService.Answer.json(200, #"{"name": "com.example.app", "changes": []}"#)
        try await RecordingService.with({ _ in answer }) { service in
            try await withTemporaryFolder { folder in
                _ = try ServedLists(in: folder)
                try folder.writeToken()
                let publish = ["publish", "root.json", "--server", service.address, "--token-file", "token"]
                try FileManager.default.setAttributes(
                    [.posixPermissions: mode], ofItemAtPath: folder.appendingPathComponent("token").path)
                let refused = try await CommandRun.tumbler(publish, in: folder)
                refused.expectError(2, hint: true)
                #expect(refused.errors.contains("chmod 600 token"), "\(refused)")
                #expect(service.requests.isEmpty)

                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o600], ofItemAtPath: folder.appendingPathComponent("token").path)
                try await CommandRun.tumbler(publish, in: folder).expectSuccess()
                #expect(service.requests.count == 1)
            }
        }
    }

    /// Sends a request in this process.
    private func silence(_ address: String, milliseconds: Int64 = 60_000) async throws -> ServiceResponseError? {
        let client = ServiceClient(
            try ServiceAddress(address, from: "test"), nil,
            connections: Connections(
                connectTimeout: .seconds(60), totalTimeout: .milliseconds(milliseconds)))
        return await #expect(throws: ServiceResponseError.self) {
            _ = try await client.ask(
                ServiceClient.Request(method: .PUT, url: address, body: [1], maximumBytes: 1_000))
        }
    }

    @Test("a server that says nothing is given up on, and may have got the request; one that is not there has not")
    func serverThatSaysNothingIsGivenUpOnAndMayHaveGotTheRequest() async throws {
        try await RecordingService.with({ _ in .silence }) { service in
            let silence = try await self.silence(service.address, milliseconds: 300)
            #expect(silence?.mayHaveArrived == true)
            #expect(silence?.reason.hasPrefix("no answer within") == true)
        }
        try await RecordingService.with({ _ in .endless }) { service in
            let silence = try await self.silence(service.address)
            #expect(silence?.mayHaveArrived == true)
            #expect(silence?.reason.contains("over 1000 bytes") == true)
        }
        try await LoopbackPort.with(.closed) { port in
            let silence = try await self.silence("http://127.0.0.1:\(port)")
            #expect(silence?.mayHaveArrived == false)
        }
        try await LoopbackPort.with(.says("220 mail.example.com ESMTP\r\n")) { port in
            let silence = try await self.silence("http://127.0.0.1:\(port)")
            #expect(silence?.mayHaveArrived == true)
        }
        try await LoopbackPort.with(.says("220 mail.example.com ESMTP\r\n")) { port in
            let silence = try await self.silence("https://127.0.0.1:\(port)")
            #expect(silence?.mayHaveArrived == false)
        }
    }
}
