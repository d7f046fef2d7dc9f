// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import InterceptionBench
import PinListMetadata
import Testing

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite("tumbler intercept")
struct InterceptCommandTests {
    @Test(
        "a client without pins is taken in wherever the CA is trusted: else the bench is broken",
        .enabled(if: InterceptScene.curl != nil, "curl is not installed"))
    func clientWithoutPinsIsTakenInWhereverTheCAIsTrustedElseTheBenchIsBroken() async throws {
        try await InterceptScene.with { scene in
            let run = try await scene.intercept(InterceptScene.intermediate, client: InterceptScene.curl())
            #expect(run.exitCode == 1, "\(run)")
            #expect(run.lines.count == InterceptionCase.all.count, "\(run)")
            for played in InterceptionCase.all {
                let outcome = try #require(run.outcomes[played.name])
                switch played.unpinned {
                case .takenIn:
                    #expect(
                        outcome.hasPrefix("ACCEPTED: ") && outcome.hasSuffix(" request bytes"), "\(played.name) \(run)")
                case .refuses: #expect(outcome == "refused before a byte", "\(played.name) \(run)")
                case .depends: break
                }
            }
        }
    }

    @Test(
        "what a library of today refuses by itself reaches a client with old settings: these servers work",
        .enabled(if: InterceptScene.curl != nil, "curl is not installed"))
    func whatALibraryOfTodayRefusesByItselfReachesAClientWithOldSettings() async throws {
        try await InterceptScene.with { scene in
            let cases = ["sha-1", "rsa-1024", "tls-1.0", "tls-1.1"]
            let run = try await scene.intercept(
                cases.flatMap { ["--case", $0] },
                client: InterceptScene.curl("--tlsv1.0 --ciphers DEFAULT@SECLEVEL=0"))
            #expect(run.exitCode == 1, "\(run)")
            for name in cases { #expect(run.outcomes[name]?.hasPrefix("ACCEPTED: ") == true, "\(name) \(run)") }
        }
    }

    @Test("a pinned client sends its request in the control, and nothing in any other case")
    func pinnedClientSendsItsRequestInTheControlAndNothingInAnyOtherCase() async throws {
        try await InterceptScene.with { scene in
            let run = try await scene.intercept(
                InterceptScene.intermediate + ["--pins", "\(try scene.fetch.pin)"],
                client: try InterceptScene.fetch(try scene.fetch.pin))
            #expect(run.exitCode == 0, "\(run)")
            for played in InterceptionCase.all where !played.isControl {
                #expect(run.outcomes[played.name] == "refused before a byte", "\(played.name) \(run)")
            }
            #expect(run.outcomes["control"]?.hasPrefix("ACCEPTED: ") == true, "\(run)")
            #expect(scene.fetch.server.counts.requests > 0)
        }
    }

    @Test("a client that pins the issuing CA may accept its certificates, and --pins says that this is meant")
    func clientThatPinsTheIssuingCAMayAcceptItsCertificatesAndPinsSaysThatThisIsMeant() async throws {
        try await InterceptScene.with { scene in
            let pin = try scene.fetch.pki.intermediate.pin
            let options = InterceptScene.intermediate + ["--case", "same-intermediate"]
            let client = try InterceptScene.fetch(pin)
            let meant = try await scene.intercept(options + ["--pins", "\(pin)"], client: client)
            #expect(meant.exitCode == 0, "\(meant)")
            #expect(meant.outcomes["same-intermediate"]?.hasPrefix("ACCEPTED: ") == true, "\(meant)")
            let unmeant = try await scene.intercept(options + ["--pins", "\(try scene.fetch.pin)"], client: client)
            #expect(unmeant.exitCode == 1, "\(unmeant)")
        }
    }

    @Test(
        "a client that takes the pin of the issuing CA alone is no right one of a list that asks for more",
        arguments: ["requireIssuer", "leaf", "denied", "transparency"])
    func clientThatTakesThePinOfTheIssuingCAAloneIsNoRightOneOfAListThatAsksForMore(_ demand: String) async throws {
        try await InterceptScene.with { scene in
            let issuing = try scene.fetch.pki.intermediate.pin
            var entry = PinnedDomain(
                try HostName(FetchScene.host),
                pins: [KnownPin(try scene.fetch.pin, position: .leaf), KnownPin(issuing, position: .issuer)])
            var list = PinList(
                name: "com.example.app", version: 1, issuedAt: Timestamp(secondsSince1970: TestPKI.now),
                expiresAt: Timestamp(secondsSince1970: TestPKI.now + 86_400), domains: [])
            switch demand {
            case "requireIssuer": entry.requireIssuer = true
            case "leaf": entry.pins[1].position = .leaf
            case "denied": list.denied = [DeniedKey(issuing)]
            default: entry.transparency = TransparencyRule(.enforce, .chrome)
            }
            list.domains = [PinList.Domain(entry)]
            try scene.folder.write(Data(list.payload), as: "list.json")
            let run = try await scene.intercept(
                InterceptScene.intermediate + ["--case", "same-intermediate", "--pins", "list.json"],
                client: try InterceptScene.fetch(issuing))
            #expect(run.exitCode == 1, "\(run)")
            #expect(run.outcomes["same-intermediate"]?.hasPrefix("ACCEPTED: ") == true, "\(run)")
        }
    }

    @Test("a client that keeps a list with a pin of the issuing CA for issuers may accept its certificates")
    func clientThatKeepsAListWithAPinOfTheIssuingCAForIssuersMayAcceptItsCertificates() async throws {
        try await InterceptScene.with { scene in
            let pins = [try scene.fetch.pki.intermediate.pin, FetchScene.strangePin]
            try scene.fetch.ship([
                PinnedDomain(try HostName(FetchScene.host), pins: pins.map { KnownPin($0, position: .issuer) })
            ])
            let run = try await scene.intercept(
                InterceptScene.intermediate + ["--case", "same-intermediate", "--pins", "bundled.json"],
                client: try InterceptScene.fetch(pins[0]))
            #expect(run.exitCode == 0, "\(run)")
        }
    }

    @Test(
        "as an HTTP proxy it intercepts its host, and no other host is reached through it",
        .enabled(if: InterceptScene.curl != nil, "curl is not installed"))
    func asAnHTTPProxyItInterceptsItsHostAndNoOtherHostIsReachedThroughIt() async throws {
        try await InterceptScene.with { scene in
            let client =
                "cat anchors.pem ca.pem > all.pem; curl -sS -m 600 --cacert all.pem --proxy $TUMBLER_PROXY"
                + " https://\(FetchScene.host)/; "
                + "curl -sS -m 600 --proxy $TUMBLER_PROXY https://127.0.0.1:\(scene.fetch.server.port)/ && echo reached"
            let run = try await scene.intercept(
                ["--proxy", "--case", "control", "--case", "trusted-ca", "--case", "untrusted-ca"], client: client)
            #expect(run.exitCode == 1, "\(run)")
            #expect(run.outcomes["control"]?.hasPrefix("ACCEPTED: ") == true, "\(run)")
            #expect(run.outcomes["trusted-ca"]?.hasPrefix("ACCEPTED: ") == true, "\(run)")
            #expect(run.outcomes["untrusted-ca"] == "refused before a byte", "\(run)")
            #expect(!run.errors.contains("reached"), "\(run)")
            #expect(run.errors.contains("403"), "\(run)")
        }
    }

    @Test("a client that did not come proves nothing: the lines say so, and the exit code is 2")
    func clientThatDidNotComeProvesNothingTheLinesSaySoAndTheExitCodeIs2() async throws {
        try await InterceptScene.with { scene in
            let run = try await scene.intercept(["--case", "trusted-ca", "--case", "expired"], client: "true")
            #expect(run.exitCode == 2, "\(run)")
            #expect(run.lines == ["trusted-ca: no client came", "expired: no client came"], "\(run)")
            #expect(run.errors.contains("no client came"), "\(run)")
        }
    }

    @Test("a proxy of the environment is not used, and that is said; without one, or for this machine, it is not")
    func proxyOfTheEnvironmentIsNotUsedAndThatIsSaid() async throws {
        try await withTemporaryFolder { folder in
            for (environment, upstream, isSaid) in [
                ("HTTPS_PROXY=http://127.0.0.1:1 NO_PROXY= no_proxy=", "nosuch.invalid", true),
                ("HTTPS_PROXY=http://127.0.0.1:1 NO_PROXY=invalid", "nosuch.invalid", false),
                ("HTTPS_PROXY=http://127.0.0.1:1 NO_PROXY= no_proxy=", "nosuch.invalid=127.0.0.1:1", false),
            ] {
                let options = "--upstream \(upstream) --case expired --listen 127.0.0.1:0 -- true"
                let run = try await CommandRun.shell(#"\#(environment) "$0" intercept \#(options)"#, in: folder)
                #expect(run.exitCode == 2 && run.lines == ["expired: no client came"], "\(run)")
                #expect(run.errors.contains("the proxy of the environment is not used") == isSaid, "\(run)")
            }
        }
    }

    @Test("a client that is run and comes to some cases only leaves the others undecided: the exit code is 2")
    func clientThatIsRunAndComesToSomeCasesOnlyLeavesTheOthersUndecidedTheExitCodeIs2() async throws {
        try await InterceptScene.with { scene in
            let fetch = try InterceptScene.fetch(try scene.fetch.pin)
            let run = try await scene.intercept(
                ["--case", "trusted-ca", "--case", "expired"], client: "test $TUMBLER_CASE = expired || { \(fetch); }")
            #expect(run.exitCode == 2, "\(run)")
            #expect(run.lines == ["trusted-ca: refused before a byte", "expired: no client came"], "\(run)")
            #expect(run.errors.contains("did not come to expired"), "\(run)")
        }
    }

    @Test(
        "on a connection for the second name requests of the second name are nothing, and those of the host are counted",
        .enabled(if: InterceptScene.curl != nil, "curl is not installed"))
    func onAConnectionForTheSecondNameRequestsOfTheHostAreCounted() async throws {
        try await InterceptScene.with { scene in
            for version in ["--http1.1", "--http2"] {
                let client =
                    "curl -sS -m 600 --cacert ca.pem \(version) --connect-to ::127.0.0.1:$TUMBLER_PORT"
                    + " https://\(InterceptionBench.secondName):$TUMBLER_PORT/"
                let own = try await scene.intercept(["--case", "coalescing"], client: client)
                #expect(own.outcomes["coalescing"] == "refused before a byte", "\(own)")
                let other = try await scene.intercept(
                    ["--case", "coalescing"], client: client + " -H 'Host: \(FetchScene.host)'")
                #expect(other.outcomes["coalescing"]?.hasPrefix("ACCEPTED: ") == true, "\(other)")
                #expect(other.exitCode == 1)
            }
        }
    }

    @Test("a client that refuses its own server as well proves nothing: the exit code is 2")
    func clientThatRefusesItsOwnServerAsWellProvesNothingTheExitCodeIs2() async throws {
        try await InterceptScene.with { scene in
            let run = try await scene.intercept(
                ["--case", "control", "--case", "trusted-ca"], client: try InterceptScene.fetch(FetchScene.strangePin))
            #expect(run.exitCode == 2, "\(run)")
            #expect(run.outcomes["control"] == "refused before a byte", "\(run)")
        }
    }

    @Test(
        "the result is written as JSON, as Markdown and as JUnit's XML, and all say the same",
        .enabled(if: InterceptScene.curl != nil, "curl is not installed"))
    func resultIsWrittenAsJSONAsMarkdownAndAsJUnitsXMLAndAllSayTheSame() async throws {
        try await InterceptScene.with { scene in
            let run = try await scene.intercept(
                [
                    "--case", "untrusted-ca", "--case", "trusted-ca", "--report", "r.json", "--report", "r.md",
                    "--junit", "r.xml",
                ],
                client: InterceptScene.curl())
            #expect(run.exitCode == 1, "\(run)")
            let report = try #require(
                try JSONSerialization.jsonObject(with: scene.folder.contents(of: "r.json")) as? [String: Any])
            let cases = try #require(report["cases"] as? [[String: Any]])
            #expect(report["verdict"] as? String == "does-not-hold")
            #expect(cases.map { $0["name"] as? String } == ["untrusted-ca", "trusted-ca"])
            #expect(cases.map { $0["passed"] as? Bool } == [true, false])
            #expect(
                cases.map { $0["outcome"] as? String } == [run.outcomes["untrusted-ca"], run.outcomes["trusted-ca"]])
            let table = try scene.folder.text(of: "r.md")
            #expect(table.contains("| `trusted-ca` |") && table.contains("| **no** |"))
            let junit = try XMLDocument(data: scene.folder.contents(of: "r.xml"))
            #expect(try junit.nodes(forXPath: "/testsuite[@tests='2'][@failures='1'][@skipped='0']").count == 1)
            #expect(try junit.nodes(forXPath: "//testcase[@name='trusted-ca']/failure").count == 1)
        }
    }

    @Test(
        "arguments that do not fit are said in one line",
        arguments: [
            [], ["--upstream", "a b"], ["--upstream", "a=b"], ["--upstream", "a", "--case", "frobnicate"],
            ["--upstream", "a", "--case", "same-intermediate"], ["--upstream", "a", "--intermediate", "x"],
            ["--upstream", "a", "--listen", "8443"], ["--upstream", "a", "--tunnel-others"],
            ["--upstream", "a", "--for", "soon"], ["--upstream", "a", "--listen", "0.0.0.0:0", "--case", "expired"],
        ])
    func argumentsThatDoNotFitAreSaidInOneLine(arguments: [String]) async throws {
        try await withTemporaryFolder { folder in
            try await CommandRun.tumbler(["intercept"] + arguments, in: folder).expectError(64)
        }
    }

    @Test("a server that cannot be reached is said before anything is played")
    func serverThatCannotBeReachedIsSaidBeforeAnythingIsPlayed() async throws {
        try await LoopbackPort.with(.closed) { port in
            try await withTemporaryFolder { folder in
                let run = try await CommandRun.tumbler(
                    ["intercept", "--upstream", "api.example.com=127.0.0.1:\(port)", "--case", "pinned-names"],
                    in: folder)
                run.expectError(2, hint: true)
            }
        }
    }

    @Test("a line on standard input plays the next case on the same port, and its end ends the bench")
    func lineOnStandardInputPlaysTheNextCaseOnTheSamePortAndItsEndEndsTheBench() async throws {
        try await InterceptScene.with { scene in
            try scene.folder.write("\n\n", as: "lines")
            let run = try await CommandRun.tumbler(
                [
                    "intercept", "--upstream", "\(FetchScene.host)", "--listen", "127.0.0.1:0", "--in-turn", "--case",
                    "trusted-ca", "--case", "expired", "--addresses", "addresses.json",
                ], in: scene.folder, standardInput: "lines")
            #expect(run.lines == ["trusted-ca: no client came", "expired: no client came"], "\(run)")
            let addresses = try JSONDecoder().decode(
                [String: String].self, from: scene.folder.contents(of: "addresses.json"))
            #expect(addresses.count == 2 && Set(addresses.values).count == 1, "\(addresses)")
        }
    }
}
