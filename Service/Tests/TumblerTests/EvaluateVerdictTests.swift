// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinningNIO
import Testing

@Suite("Would the app accept this chain?", .needsOpenSSL)
struct EvaluateVerdictTests {
    /// Runs a test with the server's chain, and the one of an inspection that the roots trust as well.
    private func withChains(_ body: (URL, TestChain, TestChain, _ pins: [String]) async throws -> Void) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let chain = try await TestChain(with: openssl, in: folder)
            let inspection = try await TestChain(with: openssl, in: folder, name: "inspection")
            try folder.join([chain.root, inspection.root], into: "roots.pem")
            try await body(folder, chain, inspection, try await openssl.pins(ofCertificates: chain.path, in: folder))
        }
    }

    /// Evaluates in JSON and in text, which must end alike.
    private func evaluate(
        _ chain: String, roots: String = "roots.pem", host: String = TestChain.host, _ options: [String] = [],
        in folder: URL
    ) async throws -> (exitCode: Int32, decision: PrintedDecision) {
        let arguments = ["evaluate", "--host", host, "--chain", chain, "--roots", roots] + options
        let run = try await CommandRun.tumbler(arguments + ["--json"], in: folder)
        let text = try await CommandRun.tumbler(arguments, in: folder)
        #expect(run.errors.isEmpty && text.errors.isEmpty, "\(run)")
        #expect(run.exitCode == text.exitCode, "\(text)")
        return (run.exitCode, try run.decoded())
    }

    @Test("accepted: the pin of any certificate of the validated path, the anchor's included")
    func acceptedThePinOfAnyCertificateOfTheValidatedPathTheAnchorsIncluded() async throws {
        try await self.withChains { folder, chain, _, pins in
            for (index, pin) in pins.enumerated() {
                let (exitCode, decision) = try await self.evaluate(chain.file, ["--pin", pin], in: folder)
                #expect(exitCode == 0)
                #expect(decision.verdict == "allow" && decision.reason == "pin-match" && decision.enforced)
                #expect(decision.matched == PrintedDecision.Match(pin: pin, index: index))
                #expect(decision.path == pins)
            }
        }
    }

    @Test("refused by the pins: an interception certificate from another CA that the roots trust as well")
    func refusedByThePins() async throws {
        try await self.withChains { folder, chain, inspection, pins in
            let trusted = try await self.evaluate(inspection.file, in: folder)
            #expect(trusted.exitCode == 0 && trusted.decision.reason == "not-pinned")
            let options = pins.flatMap { ["--pin", $0] }
            let (exitCode, decision) = try await self.evaluate(inspection.file, options, in: folder)
            #expect(exitCode == 1)
            #expect(decision.verdict == "block" && decision.reason == "no-matching-pin")
            #expect(decision.path.count == 4 && Set(decision.path).isDisjoint(with: pins))
            // The server's own chain behind the inspector's leaf does not help (CVE-2016-2402).
            try folder.join([inspection.file, chain.file], into: "both.pem")
            let both = try await self.evaluate("both.pem", options, in: folder)
            #expect(both.exitCode == 1 && both.decision.reason == "no-matching-pin")
        }
    }

    @Test("refused by the chain, for any pins: anchors of others, a missing intermediate")
    func refusedByTheChainForAnyPinsAnchorsOfOthersAMissingIntermediate() async throws {
        try await self.withChains { folder, chain, inspection, pins in
            for (file, roots) in [(chain.file, inspection.root), (chain.presented[0], chain.root)] {
                let (exitCode, decision) = try await self.evaluate(file, roots: roots, ["--pin", pins[0]], in: folder)
                #expect(exitCode == 1)
                #expect(decision.verdict == "block" && decision.reason == "chain-invalid")
                #expect(decision.path.isEmpty && decision.matched == nil && decision.detail?.isEmpty == false)
            }
        }
    }

    @Test("another host is refused; with --no-name-check the chain and the pins alone decide")
    func anotherHostIsRefusedWithNoNameCheckTheChainAndThePinsAloneDecide() async throws {
        try await self.withChains { folder, chain, inspection, pins in
            let options = ["--pin", pins[0]]
            let host = "other.example.com"
            let refused = try await self.evaluate(chain.file, host: host, options, in: folder)
            #expect(refused.exitCode == 1 && refused.decision.reason == "chain-invalid")
            let unchecked = ["--no-name-check"] + options
            let accepted = try await self.evaluate(chain.file, host: host, unchecked, in: folder)
            #expect(accepted.exitCode == 0 && accepted.decision.reason == "pin-match")
            let intercepted = try await self.evaluate(inspection.file, host: host, unchecked, in: folder)
            #expect(intercepted.exitCode == 1 && intercepted.decision.reason == "no-matching-pin")
        }
    }

    @Test("a host in other letters, with a trailing dot, and as an address is the host; what is none is refused")
    func hostInOtherLettersWithATrailingDotAndAsAnAddressIsTheHost() async throws {
        try await self.withChains { folder, chain, _, pins in
            let options = ["--pin", pins[0]]
            for host in ["API.Example.COM.", "127.0.0.1", "::1", "[::1]", "::ffff:127.0.0.1"] {
                let (exitCode, decision) = try await self.evaluate(chain.file, host: host, options, in: folder)
                #expect(exitCode == 0 && decision.reason == "pin-match", "\(host)")
            }
            for host in [
                "", "api.example.com:443", "127.1", "0x7f000001", "bücher.example", "a..b",
            ] {
                let (exitCode, decision) = try await self.evaluate(chain.file, host: host, options, in: folder)
                #expect(exitCode == 1 && decision.reason == "host-invalid" && decision.host == host, "\(host)")
            }
        }
    }

    @Test("--at decides as of another time")
    func atDecidesAsOfAnotherTime() async throws {
        try await self.withChains { folder, chain, _, pins in
            for time in ["2099-01-01T00:00:00Z", "2001-01-01T00:00:00Z"] {
                let options = ["--pin", pins[0], "--at", time]
                let (exitCode, decision) = try await self.evaluate(chain.file, options, in: folder)
                #expect(exitCode == 1 && decision.reason == "chain-invalid", "\(time)")
            }
            let now = ISO8601DateFormatter().string(from: Date())
            #expect(try await self.evaluate(chain.file, ["--at", now], in: folder).exitCode == 0)
        }
    }

    @Test("--roots system: the system's bundle, which does not know the tests' CA; undecided where there is none")
    func rootsSystemTheSystemsBundleWhichDoesNotKnowTheTestsCA() async throws {
        try await self.withChains { folder, chain, _, _ in
            let hasBundle = TrustedRoots.systemBundles.contains { FileManager.default.isReadableFile(atPath: $0) }
            for roots in [["--roots", "system"], []] {
                let arguments = ["evaluate", "--host", TestChain.host, "--chain", chain.file, "--json"] + roots
                let run = try await CommandRun.tumbler(arguments, in: folder)
                if hasBundle {
                    #expect(run.exitCode == 1, "\(run)")
                    #expect(try run.decoded(as: PrintedDecision.self).reason == "chain-invalid")
                } else {
                    run.expectError(2, hint: true)
                }
            }
        }
    }

    @Test("the chain from standard input, in DER, and with text around it")
    func chainFromStandardInputInDERAndWithTextAroundIt() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await self.withChains { folder, chain, _, pins in
            let arguments = ["evaluate", "--host", TestChain.host, "--pin", pins[0], "--chain"]
            let piped = try await CommandRun.tumbler(
                arguments + ["-", "--roots", chain.root], in: folder, standardInput: chain.file)
            #expect(piped.exitCode == 0, "\(piped)")
            try await openssl.run("x509 -in \(chain.presented[0]) -outform DER -out leaf.der", in: folder)
            let der = try await CommandRun.tumbler(arguments + ["leaf.der", "--roots", chain.presented[1]], in: folder)
            #expect(der.exitCode == 0, "\(der)")
            let text = try folder.text(of: chain.file)
                .replacingOccurrences(of: "\n-----BEGIN", with: "\n s:/CN=x\r\n-----BEGIN")
            try folder.write("depth=2\n" + text + "---\nDONE\n", as: "s_client.txt")
            #expect(try await self.evaluate("s_client.txt", ["--pin", pins[0]], in: folder).exitCode == 0)
        }
    }
}
