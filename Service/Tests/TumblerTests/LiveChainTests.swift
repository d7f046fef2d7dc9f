// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Asking a live server for its pins", .needsOpenSSL)
struct LiveChainTests {
    /// Runs a test beside a server that presents a chain of three certificates.
    private func withServer(
        _ options: [String] = [], _ body: (URL, TestChain, _ pins: [String], _ port: Int) async throws -> Void
    ) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let chain = try await TestChain(with: openssl, in: folder)
            let pins = try await openssl.pins(ofCertificates: chain.path, in: folder)
            try await withOpenSSLServer(openssl, chain.serverOptions + options, in: folder) { port in
                try await body(folder, chain, pins, port)
            }
        }
    }

    private func expectNote(_ run: CommandRun) {
        #expect(run.exitCode == 0, "\(run)")
        #expect(run.errorLines.count == 1 && run.errors.hasPrefix("tumbler: note: "), "\(run)")
    }

    @Test("the presented chain is printed, leaf first; that nothing was validated is said elsewhere")
    func presentedChainIsPrintedLeafFirstThatNothingWasValidatedIsSaidElsewhere() async throws {
        try await self.withServer { folder, _, pins, port in
            let run = try await CommandRun.tumbler(["pin", "127.0.0.1:\(port)"], in: folder)
            self.expectNote(run)
            #expect(run.pins == Array(pins.prefix(3)))
            #expect(run.errors.contains("validated"))
        }
    }

    @Test("https:// with a path, in any case")
    func httpsWithAPathInAnyCase() async throws {
        try await self.withServer { folder, _, pins, port in
            let address = "HTTPS://localhost:\(port)/some/path?query#fragment"
            let run = try await CommandRun.tumbler(["pin", "--json", address], in: folder)
            self.expectNote(run)
            let printed = try run.decoded(as: [PrintedPin].self)
            #expect(printed.map(\.pin) == Array(pins.prefix(3)))
            #expect(printed.map(\.source) == [address, address, address])
            #expect(printed.map(\.position) == ["leaf", "issuer", "issuer"])
        }
    }

    @Test("a server and a file at once; when the file is missing, nothing is printed")
    func serverAndAFileAtOnceWhenTheFileIsMissingNothingIsPrinted() async throws {
        try await self.withServer { folder, chain, pins, port in
            let run = try await CommandRun.tumbler(["pin", chain.root, "127.0.0.1:\(port)"], in: folder)
            self.expectNote(run)
            #expect(run.pins == [pins[3]] + pins.prefix(3))
            let failed = try await CommandRun.tumbler(["pin", "127.0.0.1:\(port)", "missing.pem"], in: folder)
            #expect(failed.exitCode == 2)
            #expect(failed.outputBytes.isEmpty)
        }
    }

    @Test("with the right --ca-file the pins are those of the validated path, the anchor's last")
    func withTheRightCaFileThePinsAreThoseOfTheValidatedPathTheAnchorsLast() async throws {
        try await self.withServer { folder, chain, pins, port in
            for host in ["127.0.0.1", "localhost"] {
                let run = try await CommandRun.tumbler(["pin", "--ca-file", chain.root, "\(host):\(port)"], in: folder)
                self.expectNote(run)
                #expect(run.pins == pins)
            }
        }
    }

    @Test("with anchors of others the answer is no, and no pin is printed")
    func withAnchorsOfOthersTheAnswerIsNoAndNoPinIsPrinted() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await self.withServer { folder, _, _, port in
            let other = try await TestChain(with: openssl, in: folder, name: "other")
            let run = try await CommandRun.tumbler(["pin", "--ca-file", other.root, "127.0.0.1:\(port)"], in: folder)
            run.expectError(1)
        }
    }

    @Test("the right anchors at a time after the certificates' end: no")
    func rightAnchorsAtATimeAfterTheCertificatesEndNo() async throws {
        try await self.withServer { folder, chain, _, port in
            let options = ["--ca-file", chain.root, "--at", "2099-01-01T00:00:00Z"]
            try await CommandRun.tumbler(["pin", "127.0.0.1:\(port)"] + options, in: folder).expectError(1)
        }
    }

    @Test("the right anchors, and a certificate for others: no")
    func rightAnchorsAndACertificateForOthersNo() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let chain = try await TestChain(with: openssl, in: folder, names: "DNS:api.example.com")
            try await withOpenSSLServer(openssl, chain.serverOptions, in: folder) { port in
                let arguments = ["pin", "--ca-file", chain.root, "localhost:\(port)"]
                try await CommandRun.tumbler(arguments, in: folder).expectError(1)
            }
        }
    }

    @Test("a server that wants a certificate of the client's still shows its own", arguments: ["-tls1_2", "-tls1_3"])
    func serverThatWantsACertificateOfTheClientsStillShowsItsOwn(version: String) async throws {
        try await self.withServer([version, "-Verify", "1", "-verify_return_error"]) { folder, chain, pins, port in
            let run = try await CommandRun.tumbler(["pin", "127.0.0.1:\(port)"], in: folder)
            self.expectNote(run)
            #expect(run.pins == Array(pins.prefix(3)))
            let validated = try await CommandRun.tumbler(
                ["pin", "--ca-file", chain.root, "127.0.0.1:\(port)"], in: folder)
            #expect(validated.pins == pins)
        }
    }
}
