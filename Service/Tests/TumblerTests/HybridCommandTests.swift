// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// ML-DSA-65 keys, hybrid demands, and thresholds that clients of today cannot reach.
@Suite("Post-quantum keys on the command line")
struct HybridCommandTests {
    /// The output of `root show --json` on a role.
    private struct PrintedRoot: Decodable {
        struct Demand: Decodable, Equatable {
            let keyids: [String]
            let threshold: Int
        }

        struct Role: Decodable {
            let keyids: [String]
            let threshold: Int
            let hybrid: Demand?
        }

        let keys: [String: String]
        let roles: [String: Role]
    }

    /// The output of `verify --json` and `sign --json` on a demand.
    private struct PrintedDemands: Decodable {
        struct Demand: Decodable {
            let root: Int
            let hybrid: Bool
            let threshold: Int
            let signed: Int?
            let demanded: Bool?
            let missing: Int?
        }

        let demands: [Demand]
    }

    private static let environment = URL(fileURLWithPath: "/usr/bin/env")

    /// Signs what comes in with the key of `external.der`, and prints the raw bytes: what an external program does.
    private static let program = """
        import sys
        from cryptography.hazmat.primitives.serialization import load_der_private_key
        key = load_der_private_key(open("external.der", "rb").read(), None)
        sys.stdout.buffer.write(key.sign(sys.stdin.buffer.read()))
        """

    /// Makes such a key, and its public half in PEM.
    private static let makeKey = """
        from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA65PrivateKey
        from cryptography.hazmat.primitives.serialization import *
        key = MLDSA65PrivateKey.generate()
        open("external.der", "wb").write(
            key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()))
        open("external.pub", "wb").write(
            key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
        """

    @Sendable private static func pythonHasMLDSA() async throws -> Bool {
        let python = try await FinishedProcess.run(
            self.environment,
            ["python3", "-c", "from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA65PrivateKey"],
            in: FileManager.default.temporaryDirectory)
        return python.status == 0
    }

    private func keyID(_ name: String, in folder: URL) async throws -> String {
        let run = try await CommandRun.tumbler(["key", "show", "\(name).pub"], in: folder)
        return String(try #require(run.lines.first?.split(separator: " ").last))
    }

    /// Runs a line of which `tumbler` is the first word.
    private func tumbler(_ line: String, in folder: URL) async throws -> CommandRun {
        try await CommandRun.shell(#""$0" \#(line)"#, in: folder)
    }

    /// Root 1 of `root` and `pins`, and a root 2 whose lists `quantum` signs as well.
    private static let hybridRoot = MadeFiles { folder in
        try await CommandRun.makeRoot(in: folder)
        try await CommandRun.makeKey("quantum", "ml-dsa-65", in: folder)
        for line in [
            "root rotate --root root.json --hybrid pins=quantum.pub --at \(MetadataFixture.issued) -o 2.payload",
            "sign 2.payload --root root.json --key root --yes -o 2.json",
        ] {
            try await CommandRun.shell(#""$0" \#(line)"#, in: folder).expectSuccess()
        }
    }

    /// Runs `body` in a folder with both roots and their keys.
    private func withHybridRoot(_ body: (URL) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await Self.hybridRoot.lay(in: folder)
            try await body(folder)
        }
    }

    private func exists(_ name: String, in folder: URL) -> Bool {
        FileManager.default.fileExists(atPath: folder.appendingPathComponent(name).path)
    }

    @Test("a key that is made says what it is, signs metadata, and has a pin from either half")
    func keyThatIsMadeSaysWhatItIsSignsMetadataAndHasAPinFromEitherHalf() async throws {
        try await withTemporaryFolder { folder in
            try folder.writeSecret("correct horse\n", as: "pass")
            let made = try await self.tumbler("key new a --algorithm ml-dsa-65 --passphrase-file pass", in: folder)
            made.expectResult()
            #expect(made.lines.last == "algorithm ML-DSA-65, signs lists and roots")
            let shown = try await self.tumbler("key show a --passphrase-file pass", in: folder)
            #expect(shown.lines == made.lines)
            try await CommandRun.makeKey("plain", "ml-dsa-65", in: folder)
            let pins = [
                try await CommandRun.tumbler(["pin", "plain"], in: folder),
                try await CommandRun.tumbler(["pin", "plain.pub"], in: folder),
            ]
            #expect(pins[0].pins == pins[1].pins && pins[0].pins.count == 1, "\(pins)")
            try await self.tumbler("key new b --algorithm ml-dsa-87", in: folder).expectError(64)
            try await self.tumbler("key csr plain --subject CN=a --dns a.example -o a.csr", in: folder)
                .expectError(1, hint: true)
        }
    }

    @Test("root new and root rotate make, keep, widen and end a hybrid demand; root show prints it")
    func rootNewAndRootRotateMakeKeepWidenAndEndAHybridDemandRootShowPrintsIt() async throws {
        try await self.withHybridRoot { folder in
            try await CommandRun.makeKey("second", "ml-dsa-65", in: folder)
            let (quantum, second) = (
                try await self.keyID("quantum", in: folder), try await self.keyID("second", in: folder)
            )
            func show(_ file: String) async throws -> PrintedRoot {
                try (try await CommandRun.tumbler(["root", "show", file, "--json"], in: folder)).decoded()
            }
            let made = try await show("2.json")
            #expect(made.keys[quantum] == "ml-dsa-65")
            #expect(made.roles["pins"]?.hybrid == .init(keyids: [quantum], threshold: 1))
            #expect(made.roles["pins"]?.keyids.count == 1)
            #expect(made.roles["root"]?.hybrid == nil)
            let text = try await CommandRun.tumbler(["root", "show", "2.json"], in: folder)
            #expect(text.lines.suffix(2) == ["pins, hybrid: 1 of 1", "    \(quantum) ml-dsa-65"], "\(text)")

            let new = "root new --name com.example.app --root root.pub --pins pins.pub"
            try await self.tumbler(
                "\(new) --hybrid root=quantum.pub --hybrid root=second.pub --hybrid-threshold root=2 -o 1.payload",
                in: folder
            ).expectSuccess()
            #expect(
                try await show("1.payload").roles["root"]?.hybrid == .init(keyids: [quantum, second], threshold: 2))

            let rotate = "root rotate --root 2.json --at 2026-11-22T00:00:00Z -o 3.payload"
            try await self.tumbler(rotate, in: folder).expectSuccess()
            #expect(try await show("3.payload").roles["pins"]?.hybrid == .init(keyids: [quantum], threshold: 1))
            try await self.tumbler("\(rotate) --remove pins=\(quantum.prefix(8))", in: folder).expectSuccess()
            let ended = try await show("3.payload")
            #expect(ended.roles["pins"]?.hybrid == nil && ended.keys.count == 2)
            try FileManager.default.removeItem(at: folder.appendingPathComponent("3.payload"))
            for wrong in [
                "--hybrid pins=pins.pub", "--add pins=quantum.pub", "--hybrid pins=quantum.pub",
                "--hybrid-threshold pins=2", "--hybrid-threshold pins=0", "--hybrid-threshold root=1",
                "--hybrid-threshold pins=1 --hybrid-threshold pins=1", "--hybrid roof=second.pub",
                "--allow no-backup-pin",
            ] {
                try await self.tumbler("\(rotate) \(wrong)", in: folder).expectError(64)
                #expect(!self.exists("3.payload", in: folder), "\(wrong)")
            }
        }
    }

    @Test("sign says which demand is not met yet, and verify prints both counts")
    func signSaysWhichDemandIsNotMetYetAndVerifyPrintsBothCounts() async throws {
        try await self.withHybridRoot { folder in
            let sign = "sign list --root 2.json --yes -o pins.json"
            let one = try await self.tumbler("\(sign) --key pins", in: folder)
            #expect(one.exitCode == 1)
            #expect(
                one.lines.suffix(2) == [
                    "root 2: 1 of 1 signatures, threshold met", "root 2, hybrid: 0 of 1 signatures, 1 still missing",
                ], "\(one)")
            let verify = "verify pins.json --root root.json --root 2.json --at \(MetadataFixture.now)"
            let refused = try await self.tumbler(verify, in: folder)
            #expect(refused.exitCode == 1)
            #expect(refused.lines.first?.hasPrefix("refused pins: threshold-not-met: ") == true, "\(refused)")
            // The other signs what the first left.
            let both = try await self.tumbler(
                "sign pins.json --root 2.json --yes -o pins.json --key quantum --json", in: folder)
            #expect(both.exitCode == 0, "\(both)")
            let signed: PrintedDemands = try both.decoded()
            #expect(signed.demands.map(\.hybrid) == [false, true])
            #expect(signed.demands.map(\.missing) == [0, 0])
            let verified = try await self.tumbler(verify, in: folder)
            verified.expectResult()
            #expect(verified.lines.contains("root 2: 1 of 1 signatures"), "\(verified)")
            #expect(verified.lines.contains("root 2, hybrid: 1 of 1 signatures"), "\(verified)")
            let quantum = try await self.keyID("quantum", in: folder)
            #expect(verified.lines.last == "signed by \(quantum) ml-dsa-65")
            let printed: PrintedDemands = try (try await self.tumbler("\(verify) --json", in: folder)).decoded()
            #expect(printed.demands.map(\.signed) == [1, 1])
            #expect(printed.demands.map(\.threshold) == [1, 1])
            #expect(printed.demands.map(\.root) == [2, 2])
            #expect(printed.demands.map(\.demanded) == [true, true])
            // A root: its own demand, and that of the root before it.
            let root = try await self.tumbler(
                "verify 2.json --root root.json --at \(MetadataFixture.now)", in: folder)
            root.expectResult()
            #expect(root.lines.filter { $0.hasSuffix(" signatures") }.count == 2, "\(root)")
        }
    }

    @Test(
        "a program signs with ML-DSA: 3,309 raw bytes are a signature, and nothing shorter or longer is",
        .enabled("there is no python3 whose cryptography has ML-DSA", Self.pythonHasMLDSA))
    func programSignsWithMLDSAAndNothingShorterOrLongerIsASignature() async throws {
        try await withTemporaryFolder { folder in
            let made = try await FinishedProcess.run(Self.environment, ["python3", "-c", Self.makeKey], in: folder)
            try #require(made.status == 0, "\(String(decoding: made.errors, as: UTF8.self))")
            try folder.write(Self.program, as: "sign.py")
            try folder.write(MetadataFixture.list(), as: "list")
            try await CommandRun.makeKey("root", in: folder)
            for line in [
                "root new --name com.example.app --root root.pub --pins root.pub --hybrid pins=external.pub "
                    + "--at \(MetadataFixture.issued) -o payload",
                "sign payload --key root --yes -o root.json",
                "sign list --root root.json --key root --key 'exec:python3 sign.py' --yes -o pins.json",
                "verify pins.json --root root.json --at \(MetadataFixture.now)",
            ] {
                try await self.tumbler(line, in: folder).expectSuccess()
            }
            for program in ["python3 sign.py | head -c 3308", "python3 sign.py; echo", "head -c 3309 /dev/zero"] {
                let run = try await self.tumbler(
                    "sign list --root root.json --key 'exec:\(program)' --yes -o none.json", in: folder)
                run.expectError(2, hint: true)
                #expect(!self.exists("none.json", in: folder))
            }
        }
    }

    @Test("a root that clients without ML-DSA could never follow is neither made nor signed, unless that is allowed")
    func rootThatClientsWithoutMLDSACouldNeverFollowIsNeitherMadeNorSigned() async throws {
        try await withTemporaryFolder { folder in
            try await CommandRun.makeRoot(in: folder)
            try await CommandRun.makeKey("quantum", "ml-dsa-65", in: folder)
            let rotate = "root rotate --root root.json --add pins=quantum.pub --threshold pins=2 -o 2.payload"
            let refused = try await self.tumbler(rotate, in: folder)
            refused.expectError(1, hint: true)
            #expect(refused.errors.contains("unverifiable-threshold"), "\(refused)")
            #expect(!self.exists("2.payload", in: folder))
            let allow = "--allow unverifiable-threshold"
            let allowed = try await self.tumbler("\(rotate) \(allow)", in: folder)
            try allowed.expectSuccess()
            #expect(allowed.errorLines.first?.hasPrefix("tumbler: warning: unverifiable-threshold: ") == true)
            let sign = "sign 2.payload --root root.json --key root --yes -o 2.json"
            try await self.tumbler(sign, in: folder).expectError(1, hint: true)
            #expect(!self.exists("2.json", in: folder))
            try await self.tumbler("\(sign) --allow propagation", in: folder).expectError(64)
            try await self.tumbler("\(sign) \(allow)", in: folder).expectSuccess()

            // In a project whose clients all verify it, it is a root like any other; lint says the same.
            try folder.write(ProjectText.good, as: "tumbler.yaml")
            try await self.tumbler(rotate, in: folder).expectError(1)
            try folder.write(
                "verifiable: [ecdsa-p256-sha256, ed25519, ml-dsa-65]\n" + ProjectText.good, as: "tumbler.yaml")
            try await self.tumbler(rotate, in: folder).expectResult()
            try await self.tumbler(sign, in: folder).expectSuccess()
            try folder.write("verifiable: [rot13]\n" + ProjectText.good, as: "tumbler.yaml")
            try await self.tumbler(rotate, in: folder).expectError(1, hint: true)
        }
    }

    @Test("lint says it of the newest root, for a source and for a list, by the project's verifiable")
    func lintSaysItOfTheNewestRootForASourceAndForAListByTheProjectsVerifiable() async throws {
        try await withTemporaryFolder { folder in
            try await CommandRun.makeRoot(in: folder)
            try await CommandRun.makeKey("quantum", "ml-dsa-65", in: folder)
            let allow = "--allow unverifiable-threshold"
            let roots = folder.appendingPathComponent("project/root")
            try FileManager.default.createDirectory(at: roots, withIntermediateDirectories: true)
            let project = folder.appendingPathComponent("project")
            for line in [
                "root rotate --root root.json --add pins=quantum.pub --threshold pins=2 -o 2.payload \(allow)",
                "sign 2.payload --root root.json --key root --yes -o project/root/2.json \(allow)",
            ] {
                try await self.tumbler(line, in: folder).expectSuccess()
            }
            try roots.write(try folder.contents(of: "root.json"), as: "1.json")
            for (source, code) in [("", 1), ("verifiable: [ed25519, ml-dsa-65, ecdsa-p256-sha256]\n", 0)]
                as [(String, Int32)]
            {
                try project.write(source + ProjectText.good, as: "tumbler.yaml")
                for input in ["", "list"] {
                    let run = try await self.tumbler("lint \(input) -C project", in: folder)
                    let found = run.lines.filter { $0.contains("error: unverifiable-threshold: root 2 ") }
                    #expect(found.count == Int(code), "\(run)")
                    #expect(run.exitCode == code, "\(run)")
                }
            }
        }
    }

    @Test("signing a root warns while the list that is out lacks what the root will ask for, and export refuses")
    func signingARootWarnsWhileTheListThatIsOutLacksWhatTheRootWillAskFor() async throws {
        try await withTemporaryFolder { folder in
            let entry = "api.example.com=\(ProjectText.pin("a")),\(ProjectText.pin("b"))"
            let time = "--at \(MetadataFixture.issued)"
            try await self.tumbler(
                "init project --name com.example.app --domain '\(entry)' --insecure-plaintext \(time)", in: folder
            ).expectSuccess()
            let project = folder.appendingPathComponent("project")
            try await CommandRun.makeKey("quantum", "ml-dsa-65", in: project)
            try await self.tumbler("root rotate --hybrid pins=quantum.pub \(time) -o 2.payload", in: project)
                .expectSuccess()
            let sign = "sign 2.payload --root root/1.json --key keys/root.pem --yes -o root/2.json"
            let early = try await self.tumbler(sign, in: project)
            try early.expectSuccess()
            let warnings = early.errorLines.filter { $0.hasPrefix("tumbler: warning: pins.json lacks 1 signature ") }
            #expect(warnings.count == 1 && warnings.first?.contains("hybrid") == true, "\(early)")
            let export = try await self.tumbler("export www", in: project)
            export.expectError(1, hint: true)
            #expect(!self.exists("www", in: project))

            try await self.tumbler(
                "sign pins.json --root root/1.json --root root/2.json --key quantum --yes -o pins.json", in: project
            ).expectSuccess()
            let late = try await self.tumbler(sign, in: project)
            try late.expectSuccess()
            #expect(!late.errors.contains("warning"), "\(late)")
            try await self.tumbler("export www \(time)", in: project).expectSuccess()
            // The everyday command wants both.
            let release = "release --yes --at 2026-11-22T00:00:00Z --key keys/pins.pem"
            let one = try await self.tumbler(release, in: project)
            #expect(one.exitCode == 1 && one.errors.contains("signatures are missing: 1"), "\(one)")
            try await self.tumbler("\(release) --key quantum", in: project).expectSuccess()
        }
    }
}
