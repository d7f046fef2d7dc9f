// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import Testing

@Suite("tumbler fetch")
struct FetchCommandTests {
    @Test("with the right pin the page is printed, and nothing else")
    func withTheRightPinThePageIsPrintedAndNothingElse() async throws {
        try await FetchScene.with { scene in
            let run = try await scene.fetch(["--pin", "\(scene.pin)"])
            run.expectResult()
            #expect(run.output == "hello")
            #expect(scene.server.counts.requests == 1)
        }
    }

    @Test("with the wrong pin not one byte reaches the server, and the error says why")
    func withTheWrongPinNotOneByteReachesTheServerAndTheErrorSaysWhy() async throws {
        try await FetchScene.with { scene in
            let run = try await scene.fetch(["--pin", "\(FetchScene.strangePin)"])
            run.expectError(1, hint: true)
            #expect(run.errors.contains("no-matching-pin"))
            #expect(scene.server.counts.handshakes > 0)
            #expect(scene.server.counts.requests == 0)
            #expect(scene.server.counts.requestBytes == 0)
        }
    }

    @Test("a server of an authority that the system does not trust is refused, with any pin")
    func serverOfAnAuthorityThatTheSystemDoesNotTrustIsRefusedWithAnyPin() async throws {
        try await FetchScene.with { scene in
            let run = try await CommandRun.tumbler(
                [
                    "fetch", "https://\(FetchScene.host)/", "--pin", "\(scene.pin)", "--connect-to",
                    "\(FetchScene.host):443:127.0.0.1:\(scene.server.port)",
                ], in: scene.folder)
            run.expectError(1, hint: true)
            #expect(run.errors.contains("chain-invalid"))
            #expect(scene.server.counts.requestBytes == 0)
        }
    }

    @Test("the anchors of another authority do not help")
    func anchorsOfAnotherAuthorityDoNotHelp() async throws {
        try await FetchScene.with { scene in
            try scene.folder.write(try TestPKI([FetchScene.host]).root.pem, as: "anchors.pem")
            let run = try await scene.fetch(["--pin", "\(scene.pin)"])
            run.expectError(1)
            #expect(run.errors.contains("chain-invalid"))
            #expect(scene.server.counts.requestBytes == 0)
        }
    }

    @Test("a name that the certificate does not have is refused")
    func nameThatTheCertificateDoesNotHaveIsRefused() async throws {
        try await FetchScene.with { scene in
            let run = try await scene.fetch("https://mail.example.com/", ["--pin", "\(scene.pin)"])
            run.expectError(1)
            #expect(run.errors.contains("chain-invalid"))
            #expect(scene.server.counts.requestBytes == 0)
        }
    }

    @Test("a redirect is followed to a host that the list pins to the same key, and its page is the result")
    func redirectIsFollowedToAHostThatTheListPinsToTheSameKeyAndItsPageIsTheResult() async throws {
        try await FetchScene.with { scene in
            let hosts = [FetchScene.host, FetchScene.otherHost]
            try scene.ship(try hosts.map { try FetchScene.entry($0, scene.pin) })
            let run = try await scene.fetch(
                "https://\(FetchScene.host)/redirect?https://\(FetchScene.otherHost)/", FetchScene.bundled)
            run.expectResult()
            #expect(run.output == "hello")
            #expect(scene.server.counts.requests == 2)
        }
    }

    @Test("a redirect to a host that is pinned otherwise is refused, and its server is sent nothing")
    func redirectToAHostThatIsPinnedOtherwiseIsRefusedAndItsServerIsSentNothing() async throws {
        try await FetchScene.with { scene in
            try scene.ship([
                try FetchScene.entry(FetchScene.host, scene.pin),
                try FetchScene.entry(FetchScene.otherHost, FetchScene.strangePin),
            ])
            let run = try await scene.fetch(
                "https://\(FetchScene.host)/redirect?https://\(FetchScene.otherHost)/", FetchScene.bundled)
            run.expectError(1)
            #expect(run.errors.contains("\(FetchScene.otherHost): block (no-matching-pin)"))
            #expect(scene.server.counts.requests == 1)
        }
    }

    @Test("with --pin a redirect leads to no other host: no pins are given for it")
    func withPinARedirectLeadsToNoOtherHostNoPinsAreGivenForIt() async throws {
        try await FetchScene.with { scene in
            for scheme in ["https", "http"] {
                let before = scene.server.counts.requests
                let run = try await scene.fetch(
                    "https://\(FetchScene.host)/redirect?\(scheme)://\(FetchScene.otherHost)/",
                    ["--pin", "\(scene.pin)"])
                run.expectError(1)
                #expect(run.errors.contains("\(FetchScene.otherHost): block (unlisted-denied)"), "\(run)")
                #expect(scene.server.counts.requests == before + 1)
            }
        }
    }

    @Test("a server that redirects in a circle is left after five redirects")
    func serverThatRedirectsInACircleIsLeftAfterFiveRedirects() async throws {
        try await FetchScene.with { scene in
            // The target redirects to itself: what stands behind the question mark is what is answered.
            let run = try await scene.fetch(
                "https://\(FetchScene.host)/redirect?/redirect?/redirect?/redirect?/redirect?/redirect?/redirect?/",
                ["--pin", "\(scene.pin)"])
            run.expectError(2)
            #expect(run.errors.contains("redirects"))
            #expect(scene.server.counts.requests == 6)
        }
    }

    @Test("a redirect to a file is not followed")
    func redirectToAFileIsNotFollowed() async throws {
        try await FetchScene.with { scene in
            let run = try await scene.fetch(
                "https://\(FetchScene.host)/redirect?file:///etc/hostname", ["--pin", "\(scene.pin)"])
            run.expectError(2)
        }
    }

    @Test("a redirect from a host of the world to this machine or a private network is followed where that is allowed")
    func redirectFromAHostOfTheWorldToThisMachineOrAPrivateNetworkIsFollowedWhereThat() async throws {
        try await FetchScene.with { scene in
            let leaf = try TestPKI.leaf([FetchScene.host, "localhost"], by: scene.pki.intermediate)
            scene.server.identity = try LoopbackServer.Identity([leaf, scene.pki.intermediate])
            try scene.ship(try [FetchScene.host, "localhost"].map { try FetchScene.entry($0, leaf.pin) })
            func fetch(_ host: String, _ target: String, _ options: [String] = []) async throws -> CommandRun {
                try await scene.fetch("https://\(host)/redirect?\(target)", FetchScene.bundled + options)
            }
            for target in [
                "https://localhost/", "https://a.LOCALHOST./", "http://127.0.0.1/", "https://192.168.1.1/",
                "//169.254.169.254/latest/meta-data/", "https://\(FetchScene.host)/redirect?http://10.0.0.1/",
            ] {
                let before = scene.server.counts.requests
                let run = try await fetch(FetchScene.host, target)
                run.expectError(2, hint: true)
                #expect(run.errors.contains("local or private"), "\(run)")
                // One request, or two where the first redirect stays in the world.
                #expect(scene.server.counts.requests == before + (target.contains("redirect") ? 2 : 1))
            }
            let allowed = try await fetch(FetchScene.host, "https://localhost/", ["--allow-local-redirects"])
            allowed.expectResult()
            #expect(allowed.output == "hello")
            // A request to this machine may be redirected to it.
            let stayed = try await fetch("localhost", "https://localhost/")
            stayed.expectResult()
            #expect(stayed.output == "hello")
        }
    }

    @Test(
        "a redirect to a name that the resolver has at this machine is followed where that is allowed",
        .enabled("unshare gives no file of hosts here", Self.hasHostsOfItsOwn), arguments: [[], ["--ipv4"]])
    func redirectToANameThatTheResolverHasAtThisMachineIsFollowedWhereThatIsAllowed(options: [String]) async throws {
        try await FetchScene.with { scene in
            try scene.ship(try [FetchScene.host, FetchScene.otherHost].map { try FetchScene.entry($0, scene.pin) })
            try scene.folder.write("127.0.0.1 \(FetchScene.host) \(FetchScene.otherHost)\n", as: "hosts")
            let port = scene.server.port
            /// The first host is where an option says, which says nothing of its network, or where the resolver says.
            func fetch(isPlaced: Bool = true, _ more: [String] = []) async throws -> CommandRun {
                let place = isPlaced ? "--connect-to \(FetchScene.host)::127.0.0.1:" : ""
                let command =
                    "fetch 'https://\(FetchScene.host):\(port)/redirect?https://\(FetchScene.otherHost):\(port)/' "
                    + "--cacert anchors.pem \(place) " + (FetchScene.bundled + options + more).joined(separator: " ")
                return try await CommandRun.shell(
                    "exec unshare -r -m sh -c 'mount --bind hosts /etc/hosts && exec \"$@\"' sh \"$0\" \(command)",
                    in: scene.folder)
            }
            let run = try await fetch()
            run.expectError(2, hint: true)
            #expect(run.errors.contains("which is at 127.0.0.1, a local or private address"), "\(run)")
            #expect(scene.server.counts.requests == 1)
            let allowed = try await fetch(["--allow-local-redirects"])
            allowed.expectResult()
            #expect(allowed.output == "hello")
            // A public name at a private address is a server of our own network.
            let inside = try await fetch(isPlaced: false)
            inside.expectResult()
            #expect(inside.output == "hello")
        }
    }

    /// Whether a program can be given a file of hosts of its own, without rights.
    @Sendable private static func hasHostsOfItsOwn() async throws -> Bool {
        let run = try await FinishedProcess.run(
            URL(fileURLWithPath: "/bin/sh"), ["-c", "unshare -r -m mount --bind /dev/null /etc/hosts"],
            in: FileManager.default.temporaryDirectory)
        return run.status == 0
    }

    @Test("a request without TLS to an enforced host is refused before a connection is made")
    func requestWithoutTLSToAnEnforcedHostIsRefusedBeforeAConnectionIsMade() async throws {
        try await FetchScene.with { scene in
            try scene.ship([try FetchScene.entry(FetchScene.host, scene.pin)])
            for source in [FetchScene.bundled, ["--pin", "\(try scene.pin)"]] {
                let run = try await scene.fetch("http://\(FetchScene.host)/", source)
                run.expectError(1)
                #expect(run.errors.contains("cleartext"))
            }
            #expect(scene.server.counts.connections == 0)
        }
    }

    @Test("a suspended entry lets pass what default validation accepts, and that is said")
    func suspendedEntryLetsPassWhatDefaultValidationAcceptsAndThatIsSaid() async throws {
        try await FetchScene.with { scene in
            var lists = try scene.ship([try FetchScene.entry(FetchScene.host, FetchScene.strangePin)])
            let suspension = Suspension(
                .entry(try HostName(FetchScene.host)), until: Timestamp(secondsSince1970: TestPKI.now + 3_600),
                reason: "incident 4711")
            try lists.repository.publishList { $0.suspended = [suspension] }
            try scene.folder.write(Data(try #require(lists.repository.lists.last)), as: "bundled.json")
            let run = try await scene.fetch(FetchScene.bundled)
            #expect(run.exitCode == 0)
            #expect(run.output == "hello")
            #expect(run.errorLines.count == 1 && run.errors.hasPrefix("tumbler: note: "), "\(run)")
            #expect(run.errors.contains("suspended"))
            // The same list an hour and a minute later.
            let later = Timestamp(secondsSince1970: TestPKI.now + 3_660)
            let run2 = try await scene.fetch(FetchScene.bundled + ["--at", "\(later)"])
            run2.expectError(1)
            #expect(run2.errors.contains("no-matching-pin"))
        }
    }

    @Test(
        "a server that is not there, and one that speaks no TLS, are failures of the network")
    func serverThatIsNotThereAndOneThatSpeaksNoTLSAreFailuresOfTheNetwork() async throws {
        try await withTemporaryFolder { folder in
            func fetch(_ port: Int) async throws -> CommandRun {
                try await CommandRun.tumbler(
                    ["fetch", "https://127.0.0.1:\(port)/", "--pin", "\(FetchScene.strangePin)"], in: folder)
            }
            try await LoopbackPort.with(.closed) { try await fetch($0).expectError(2) }
            for text in ["HTTP/1.1 400 Bad Request\r\n\r\n", ""] {
                try await LoopbackPort.with(.says(text)) { try await fetch($0).expectError(2) }
            }
        }
    }
}
