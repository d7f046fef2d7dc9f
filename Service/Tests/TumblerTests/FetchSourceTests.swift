// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import Testing

@Suite("The source of the pins of fetch")
struct FetchSourceTests {
    @Test("the files that an app ships decide, for better and for worse")
    func filesThatAnAppShipsDecideForBetterAndForWorse() async throws {
        try await FetchScene.with { scene in
            try scene.ship([try FetchScene.entry(FetchScene.host, scene.pin)])
            let right = try await scene.fetch(FetchScene.bundled)
            right.expectResult()
            #expect(right.output == "hello")
            try scene.ship([try FetchScene.entry(FetchScene.host, FetchScene.strangePin)])
            let wrong = try await scene.fetch(FetchScene.bundled)
            wrong.expectError(1)
            #expect(scene.server.counts.requests == 1)
        }
    }

    @Test("a host that the list does not name is fetched under default validation, and that is said")
    func hostThatTheListDoesNotNameIsFetchedUnderDefaultValidationAndThatIsSaid() async throws {
        try await FetchScene.with { scene in
            try scene.ship([try FetchScene.entry(FetchScene.otherHost, scene.pin)])
            let run = try await scene.fetch(FetchScene.bundled)
            #expect(run.output == "hello")
            #expect(run.exitCode == 0)
            #expect(run.errors.contains("not-pinned"))
        }
    }

    @Test(
        "with --list-url the newest list decides; when it cannot be fetched any more, the stored one, and that is said",
        .enabled(if: ServedLists.python != nil, "python3 is not installed"))
    func withListUrlTheNewestListDecidesWhenItCannotBeFetchedAnyMoreTheStoredOne() async throws {
        try await FetchScene.with { scene in
            var lists = try scene.ship([try FetchScene.entry(FetchScene.host, FetchScene.strangePin)])
            let right = PinList.Domain(try FetchScene.entry(FetchScene.host, scene.pin))
            try lists.repository.publishList { $0.domains = [right] }
            try lists.store()
            func options(_ address: String) -> [String] {
                ["--list-url", address, "--root", "root.json", "--state", "state"]
            }
            try await lists.serving { address in
                let run = try await scene.fetch(options(address))
                run.expectResult()
                #expect(run.output == "hello")
                // Replayed: the shipped list is older than the stored one.
                try FileManager.default.removeItem(at: scene.folder.appendingPathComponent("site/pins.json"))
                try FileManager.default.copyItem(
                    at: scene.folder.appendingPathComponent("bundled.json"),
                    to: scene.folder.appendingPathComponent("site/pins.json"))
                let replayed = try await scene.fetch(options(address))
                #expect(replayed.exitCode == 0)
                #expect(replayed.output == "hello")
                #expect(replayed.errors.contains("rollback"))
            }
            let offline = try await scene.fetch(options("http://127.0.0.1:1/lists"))
            #expect(offline.exitCode == 0, "\(offline)")
            #expect(offline.output == "hello")
            #expect(offline.errorLines.count == 2 && offline.errors.contains("not refreshed"), "\(offline)")
            #expect(offline.errors.contains("version 2 (stored"), "\(offline)")
        }
    }

    @Test("a list that has expired still decides, and a warning says so; pins of the command line never expire")
    func listThatHasExpiredStillDecidesAndAWarningSaysSo() async throws {
        try await FetchScene.with { scene in
            let later = ["--at", Timestamp(secondsSince1970: TestPKI.now + 3 * 86_400).description]
            let warning =
                "tumbler: warning: version 2 of com.example.app has expired: clients still enforce it, until they "
                + "get a newer one"
            for (pin, exit) in [(try scene.pin, Int32(0)), (FetchScene.strangePin, 1)] {
                var lists = try scene.ship([try FetchScene.entry(FetchScene.host, pin)])
                try lists.repository.publishList { $0.expiresAt = $0.issuedAt.advanced(by: 2 * 86_400) }
                try scene.folder.write(Data(try #require(lists.repository.lists.last)), as: "bundled.json")
                let run = try await scene.fetch(FetchScene.bundled + later)
                #expect(run.exitCode == exit && run.errorLines.first == warning, "\(run)")
                #expect(run.output == (exit == 0 ? "hello" : ""), "\(run)")
            }
            try await scene.fetch(["--pin", "\(scene.pin)"] + later).expectResult()
            #expect(scene.server.counts.requests == 2)
        }
    }

    @Test("without any list nothing is fetched: with --bundled the shipped one decides")
    func withoutAnyListNothingIsFetchedWithBundledTheShippedOneDecides() async throws {
        try await FetchScene.with { scene in
            try scene.ship([try FetchScene.entry(FetchScene.host, scene.pin)])
            let options = ["--list-url", "http://127.0.0.1:1/lists", "--root", "root.json", "--state", "state"]
            let nothing = try await scene.fetch(options)
            #expect(nothing.exitCode == 2)
            #expect(nothing.outputBytes.isEmpty)
            #expect(scene.server.counts.connections == 0)
            let shipped = try await scene.fetch(options + ["--bundled", "bundled.json"])
            #expect(shipped.exitCode == 0)
            #expect(shipped.output == "hello")
        }
    }

    @Test("the project folder, named or the nearest one, has a root and a list")
    func projectFolderNamedOrTheNearestOneHasARootAndAList() async throws {
        try await FetchScene.with { scene in
            let pins = "\(try scene.pin),\(FetchScene.strangePin)"
            let made = try await CommandRun.tumbler(
                [
                    "init", "project", "--name", "com.example.app", "--insecure-plaintext", "--domain",
                    "\(FetchScene.host)=\(pins)",
                ], in: scene.folder)
            #expect(made.exitCode == 0, "\(made)")
            let named = try await scene.fetch(["-C", "project"])
            named.expectResult()
            #expect(named.output == "hello")
            let nearest = try await CommandRun.shell(
                "cd project/keys && \"$0\" fetch https://\(FetchScene.host)/ --cacert ../../anchors.pem "
                    + "--connect-to \(FetchScene.host):443:127.0.0.1:\(scene.server.port)", in: scene.folder)
            nearest.expectResult()
            #expect(nearest.output == "hello")
            try FileManager.default.removeItem(at: scene.folder.appendingPathComponent("project/pins.json"))
            try await scene.fetch(["-C", "project"]).expectError(2, hint: true)
        }
    }

    @Test("a list that its root does not vouch for decides nothing")
    func listThatItsRootDoesNotVouchForDecidesNothing() async throws {
        try await FetchScene.with { scene in
            try scene.ship([try FetchScene.entry(FetchScene.host, scene.pin)])
            try await CommandRun.makeRoot(in: scene.folder)
            try await scene.fetch(FetchScene.bundled).expectError(2)
            #expect(scene.server.counts.connections == 0)
        }
    }

    @Test(
        "what does not fit together is a usage error, and no server is asked",
        arguments: [
            "https://api.example.com/", "https://api.example.com/ --pin nonsense", "api.example.com --pin PIN",
            "ftp://api.example.com/ --pin PIN", "https:///page --pin PIN",
            "https://me:secret@api.example.com/ --pin PIN",
            "https://a..b/ --pin PIN", "https://api.example.com/ --pin PIN --bundled b.json --root r.json",
            "https://api.example.com/ --bundled b.json", "https://api.example.com/ --root r.json",
            "https://api.example.com/ --list-url http://127.0.0.1:1 --root r.json",
            "https://api.example.com/ --bundled b.json --root r.json --state s",
            "https://api.example.com/ --pin PIN -C .", "https://api.example.com/ --pin PIN --json",
            "https://api.example.com/ --pin PIN --connect-to 127.0.0.1:443",
            "https://api.example.com/ --pin PIN --connect-to ::127.0.0.1:0",
            "https://api.example.com/ --pin PIN --connect-to ::127.0.0.1:port",
            "--pin PIN",
        ])
    func whatDoesNotFitTogetherIsAUsageErrorAndNoServerIsAsked(line: String) async throws {
        try await withTemporaryFolder { folder in
            let words = line.replacing("PIN", with: "\(FetchScene.strangePin)").split(separator: " ").map(String.init)
            let run = try await CommandRun.tumbler(["fetch"] + words, in: folder)
            #expect(run.exitCode == 64, "\(run)")
            #expect(run.outputBytes.isEmpty)
            #expect(run.errors.hasPrefix("tumbler: error: "), "\(run)")
            #expect(!run.errors.contains("secret"))
        }
    }

    @Test("more pins than an entry may have are a usage error")
    func morePinsThanAnEntryMayHaveAreAUsageError() async throws {
        try await withTemporaryFolder { folder in
            let pins = (UInt8(0)...16).flatMap { ["--pin", "\(Pin(kind: .publicKey, hashing: [$0]))"] }
            let run = try await CommandRun.tumbler(["fetch", "https://127.0.0.1:1/"] + pins, in: folder)
            run.expectError(64)
        }
    }

    @Test("files that are not there, or are none, are named", arguments: ["missing.pem", "empty.pem", "text.pem"])
    func filesThatAreNotThereOrAreNoneAreNamed(name: String) async throws {
        try await withTemporaryFolder { folder in
            try folder.write("", as: "empty.pem")
            try folder.write("nothing of a certificate\n", as: "text.pem")
            let run = try await CommandRun.tumbler(
                ["fetch", "https://127.0.0.1:1/", "--pin", "\(FetchScene.strangePin)", "--cacert", name], in: folder)
            run.expectError(2)
            #expect(run.errors.contains(name))
        }
    }
}
