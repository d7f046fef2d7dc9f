// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Testing

/// `tumbler attest`: formats.md, section 8.
@Suite("attest")
struct AttestCommandTests {
    /// The output of `--json` and of a batch.
    struct Printed: Decodable, Equatable {
        struct Receipt: Decodable, Equatable {
            let appId: String
            let type: String
            let riskMetric: Int?
        }

        let id: PrintedIdentifier?
        let accepted: Bool
        let step: Int?
        let reason: String
        let environment: String?
        let counter: Int?
        let keyId: String?
        let category: Int?
        let bundleVersion: String?
        let receipt: Receipt?
    }

    private static let members: Set = [
        "accepted", "step", "reason", "environment", "counter", "keyId", "category", "bundleVersion",
    ]
    private static let time = "2026-11-18T10:26:40.153Z"
    private let kit: AttestationKit

    init() throws { self.kit = try AttestationKit() }

    private var keyID: String { Data(self.kit.keyID).base64EncodedString() }

    private func attestation(_ change: (inout AttestationKit.Form) -> Void = { _ in }) throws -> Data {
        Data(
            try self.kit.attestation {
                $0.extensions = AttestationKit.extensions(category: [4, 0, 0, 0], version: "2.1")
                change(&$0)
            })
    }

    private func arguments(_ file: String = "attestation.bin", others: [String] = []) -> [String] {
        [
            "attest", "attestation", file, "--app-id", AttestationKit.appID, "--key-id", self.keyID, "--root",
            "root.der",
            "--at", Self.time,
        ] + (others.contains("--client-data-hash") ? [] : ["--challenge", "challenge"]) + others
    }

    private func fill(_ folder: URL) throws {
        try folder.write(self.attestation(), as: "attestation.bin")
        try folder.write(Data(self.kit.root.der), as: "root.der")
        try folder.write(Data(AttestationKit.challenge), as: "challenge")
    }

    @Test("an attestation is accepted as a binary file and in base64, as text and as JSON")
    func attestationIsAcceptedAsABinaryFileAndInBase64AsTextAndAsJSON() async throws {
        try await withTemporaryFolder { folder in
            try self.fill(folder)
            try folder.write(
                self.attestation().base64EncodedData(options: .lineLength64Characters), as: "attestation.txt")
            for file in ["attestation.bin", "attestation.txt"] {
                let run = try await CommandRun.tumbler(self.arguments(file, others: ["--json"]), in: folder)
                run.expectResult()
                #expect(try run.members() == [Self.members])
                let printed: Printed = try run.decoded()
                #expect(printed.accepted && printed.step == nil && printed.environment == "production")
                #expect(printed.counter == 0 && printed.keyId == self.keyID)
                #expect(printed.category == 4 && printed.bundleVersion == "2.1")
            }
            let text = try await CommandRun.tumbler(self.arguments(), in: folder)
            text.expectResult()
            #expect(text.lines.first?.hasPrefix("accepted: ") == true && text.output.contains(self.keyID))
        }
    }

    @Test("a refusal ends with 1 and says the step")
    func refusalEndsWith1AndSaysTheStep() async throws {
        try await withTemporaryFolder { folder in
            try self.fill(folder)
            for (others, step) in [
                (["--environment", "development"], 8), (["--categories", "2,5"], 10),
                (["--client-data-hash", "00ff"], 4),
            ] {
                let run = try await CommandRun.tumbler(self.arguments(others: others) + ["--json"], in: folder)
                #expect(run.exitCode == 1 && run.errors.isEmpty, "\(run)")
                let printed: Printed = try run.decoded()
                #expect(!printed.accepted && printed.step == step && printed.keyId == nil, "\(run)")
            }
            try folder.write(Data("hello".utf8), as: "attestation.bin")
            let run = try await CommandRun.tumbler(self.arguments(), in: folder)
            #expect(run.exitCode == 1 && run.lines.count == 1 && run.output.hasPrefix("refused: "), "\(run)")
        }
    }

    @Test("the hash that the app gave is taken as it is, in hexadecimal digits of any length")
    func hashThatTheAppGaveIsTakenAsItIsInHexadecimalDigitsOfAnyLength() async throws {
        try await withTemporaryFolder { folder in
            try self.fill(folder)
            try folder.write(
                self.attestation { $0.clientDataHash = Array("example_server_challenge".utf8) }, as: "attestation.bin")
            let hash = "example_server_challenge".utf8.map { String(format: "%02x", $0) }.joined()
            let run = try await CommandRun.tumbler(self.arguments(others: ["--client-data-hash", hash]), in: folder)
            run.expectResult()
        }
    }

    @Test("an assertion is verified by a key in a file or an argument, in each of its forms")
    func assertionIsVerifiedByAKeyInAFileOrAnArgumentInEachOfItsForms() async throws {
        let request = Array("a request".utf8)
        let key = self.kit.deviceKey.publicKey
        try await withTemporaryFolder { folder in
            try folder.write(Data(self.kit.assertion(request, counter: 9)), as: "assertion")
            try folder.write(Data(request), as: "request")
            try folder.write(Data(key.pemRepresentation.utf8), as: "key.pem")
            try folder.write(key.derRepresentation, as: "key.der")
            try folder.write(key.x963Representation, as: "key.x963")
            let arguments = { (key: String, counter: String) in
                [
                    "attest", "assertion", "assertion", "--app-id", AttestationKit.appID, "--public-key", key,
                    "--counter", counter, "--client-data", "request", "--json",
                ]
            }
            for form in [
                "key.pem", "key.der", "key.x963", key.derRepresentation.base64EncodedString(),
                key.x963Representation.base64EncodedString(),
            ] {
                let run = try await CommandRun.tumbler(arguments(form, "8"), in: folder)
                run.expectResult()
                let printed: Printed = try run.decoded()
                #expect(printed.accepted && printed.counter == 9 && printed.keyId == self.keyID)
            }
            let replay = try await CommandRun.tumbler(arguments("key.pem", "9"), in: folder)
            #expect(replay.exitCode == 1)
            #expect(try replay.decoded(as: Printed.self).step == 5)
            let missing = try await CommandRun.tumbler(arguments("no-such-key", "8"), in: folder)
            missing.expectError(2, hint: true)
        }
    }

    @Test("a receipt is verified, and what it says is printed")
    func receiptIsVerifiedAndWhatItSaysIsPrinted() async throws {
        let kit = try ReceiptKit()
        try await withTemporaryFolder { folder in
            try folder.write(Data(kit.receipt()), as: "receipt")
            try folder.write(Data(kit.root.der), as: "root.der")
            let arguments = ["attest", "receipt", "receipt", "--root", "root.der", "--at", Self.time]
            let run = try await CommandRun.tumbler(arguments + ["--json"], in: folder)
            run.expectResult()
            let printed: Printed = try run.decoded()
            #expect(printed.accepted && printed.step == nil && printed.environment == "production")
            #expect(printed.receipt?.appId == AttestationKit.appID && printed.receipt?.type == "ATTEST")
            let other = try await CommandRun.tumbler(arguments + ["--app-id", "A.b"], in: folder)
            #expect(other.exitCode == 1 && other.output.hasPrefix("refused: "))
            let apple = try await CommandRun.tumbler(["attest", "receipt", "receipt", "--at", Self.time], in: folder)
            #expect(apple.exitCode == 1)
        }
    }

    @Test("a batch answers each line in its order, those that cannot be read as well")
    func batchAnswersEachLineInItsOrderThoseThatCannotBeReadAsWell() async throws {
        let receipts = try ReceiptKit()
        let root = Data(self.kit.root.der).base64EncodedString()
        let request = Data("a request".utf8)
        let attestation = try self.attestation().base64EncodedString()
        let challenge = Data(AttestationKit.challenge).base64EncodedString()
        let common = #""appId":"\#(AttestationKit.appID)""#
        let asked = #""what":"attestation",\#(common),"keyId":"\#(self.keyID)","at":"\#(Self.time)","root":"\#(root)""#
        let assertion = Data(try self.kit.assertion(Array(request))).base64EncodedString()
        let key = self.kit.deviceKey.publicKey.derRepresentation.base64EncodedString()
        let receipt = Data(try receipts.receipt()).base64EncodedString()
        let receiptRoot = Data(receipts.root.der).base64EncodedString()
        let lines = [
            #"{"id":"a",\#(asked),"attestation":"\#(attestation)","challenge":"\#(challenge)"}"#,
            #"{"id":"b",\#(asked),"attestation":"\#(attestation)","challenge":"AAAA"}"#,
            #"{"id":"c",\#(asked),"attestation":"\#(attestation)","challenge":"\#(challenge)","categories":[2]}"#,
            #"{"id":4,"what":"assertion",\#(common),"assertion":"\#(assertion)","publicKey":"\#(key)","counter":0,"#
                + #""clientData":"\#(request.base64EncodedString())"}"#,
            #"{"id":"e","what":"receipt","receipt":"\#(receipt)","at":"\#(Self.time)","root":"\#(receiptRoot)"}"#,
            "no JSON", #"{"id":"g","what":"other"}"#, #"{"id":"h",\#(asked),"attestation":"?","challenge":""}"#,
            #"{"id":"i",\#(asked),"attestation":"\#(attestation)"}"#,
        ]
        try await withTemporaryFolder { folder in
            try folder.write(Data((lines.joined(separator: "\n") + "\n").utf8), as: "questions")
            let run = try await CommandRun.tumbler(["attest", "--batch", "-"], in: folder, standardInput: "questions")
            run.expectResult()
            let again = try await CommandRun.tumbler(["attest", "--batch", "questions", "--json"], in: folder)
            #expect(again.outputBytes == run.outputBytes)
            let answers = try run.lines.map { try JSONDecoder().decode(Printed.self, from: Data($0.utf8)) }
            try #require(answers.count == lines.count, "\(run)")
            #expect(
                answers.map(\.id) == [
                    .text("a"), .text("b"), .text("c"), .number(4), .text("e"), nil, .text("g"), .text("h"), .text("i"),
                ])
            #expect(answers.map(\.accepted) == [true, false, false, true, true, false, false, false, false], "\(run)")
            #expect(answers.map(\.step) == [nil, 4, 10, nil, nil, nil, nil, nil, nil])
            #expect(answers[3].counter == 1 && answers[4].receipt?.type == "ATTEST")
        }
    }

    @Test("a wrong call is a usage error, and a file that is missing ends with 2")
    func wrongCallIsAUsageErrorAndAFileThatIsMissingEndsWith2() async throws {
        try await withTemporaryFolder { folder in
            try self.fill(folder)
            for arguments in [
                ["attest"], ["attest", "other"], ["attest", "attestation", "attestation.bin"],
                self.arguments(others: ["--client-data-hash", "00", "--challenge", "challenge"]),
                self.arguments(others: ["--client-data-hash", "0"]),
                self.arguments(others: ["--client-data-hash", "xx"]),
                self.arguments(others: ["--environment", "staging"]), self.arguments(others: ["--categories", "x"]),
                self.arguments(others: ["--categories", ""]), self.arguments(others: ["--at", "tomorrow"]),
                [
                    "attest", "assertion", "attestation.bin", "--app-id", "A.b", "--public-key", "AAAA", "--counter",
                    "-1", "--client-data", "challenge",
                ],
            ] {
                let run = try await CommandRun.tumbler(arguments, in: folder)
                run.expectError(64)
            }
            for arguments in [
                self.arguments("missing"), ["attest", "--batch", "missing"], ["attest", "receipt", "missing"],
            ] {
                try await CommandRun.tumbler(arguments, in: folder).expectError(2)
            }
        }
    }
}
