// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import NIOHTTP1
import PinListMetadata
import Testing

/// `tumbler sighting`: formats.md, section 8.
@Suite("sighting")
struct SightingCommandTests {
    /// Certificates that another implementation made: Service/Tests/CertificateSightingsTests/Vectors.
    private struct Vectors: Decodable {
        struct Case: Decodable {
            let precertificate, certificate, identity: String
            let chain: [String]
        }

        let cases: [Case]

        static func first() throws -> Case {
            let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            let file = folder.appendingPathComponent("CertificateSightingsTests/Vectors/sightings.json")
            return try #require(try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: file)).cases.first)
        }
    }

    /// The certificates of a request.
    private struct Body: Decodable {
        struct Told: Decodable {
            let der: String
            let chain: [String]?
            let log, loggedAt: String?
        }

        let certificates: [Told]

        static func of(_ request: RecordingService.Request) throws -> [Told] {
            #expect(request.method == "POST")
            #expect(request.path == "/v1/lists/com.example.app/sightings")
            #expect(request.headers["Authorization"].count == 1)
            return try JSONDecoder().decode(Body.self, from: Data(request.body)).certificates
        }
    }

    /// Answers as the service does: each certificate is one that is not known.
    private static func evaluated(_ request: RecordingService.Request) -> RecordingService.Answer {
        let count = (try? JSONDecoder().decode(Body.self, from: Data(request.body)).certificates.count) ?? 0
        let each = #"{"identity": "\#(String(repeating: "0a", count: 32))", "state": "unknown"}"#
        return .json(202, "{\"certificates\": [\(Array(repeating: each, count: count).joined(separator: ","))]}")
    }

    private static func pem(_ base64: String) throws -> String {
        PEMBlock(label: PEMBlock.certificateLabel, bytes: try #require(Base64.decode(base64.utf8))).text
    }

    /// Runs a line of shell beside a service, in which `$0` is tumbler and `$OPTIONS` are what each call needs.
    private func run(
        _ line: String,
        _ answer: @escaping @Sendable (RecordingService.Request) -> RecordingService.Answer = Self.evaluated,
        _ look: (CommandRun, RecordingService, URL) throws -> Void
    ) async throws {
        let vector = try Vectors.first()
        try await withTemporaryFolder { folder in
            try folder.writeToken()
            let chain = try ([vector.precertificate] + vector.chain).map(Self.pem).joined()
            try chain.write(to: folder.appendingPathComponent("chain.pem"), atomically: true, encoding: .utf8)
            let der = try #require(Base64.decode(vector.certificate.utf8))
            try Data(der).write(to: folder.appendingPathComponent("leaf.der"))
            try Data(der.dropLast()).write(to: folder.appendingPathComponent("cut.der"))
            try await RecordingService.with(answer) { service in
                let options = "--name com.example.app --token-file token --server \(service.address)"
                try look(try await CommandRun.shell("OPTIONS='\(options)'; \(line)", in: folder), service, folder)
            }
        }
    }

    @Test("a precertificate with its chain, and a certificate in DER, are handed in with what is known of them")
    func precertificateWithItsChainAndACertificateInDERAreHandedIn() async throws {
        let vector = try Vectors.first()
        try await self.run(
            #""$0" sighting chain.pem leaf.der --log l --logged-at 2026-11-21T00:00:00Z $OPTIONS"#
        ) { run, service, _ in
            run.expectResult()
            #expect(
                run.lines
                    == Array(
                        repeating: "unknown 0a0a0a0a0a0a0a0a api.example.com, *.Example.com, 192.0.2.7 and 1 more",
                        count: 2))
            let told = try Body.of(try #require(service.requests.first))
            #expect(service.requests.count == 1)
            #expect(told.map(\.der) == [vector.precertificate, vector.certificate])
            #expect(told.map(\.chain) == [vector.chain, nil])
            #expect(told.map(\.log) == ["l", "l"])
            #expect(told.map(\.loggedAt) == ["2026-11-21T00:00:00Z", "2026-11-21T00:00:00Z"])
        }
        try await self.run(#""$0" sighting cut.der leaf.der missing.pem $OPTIONS --json"#) { run, service, _ in
            #expect(run.exitCode == 2)
            #expect(run.errorLines.count == 2)
            #expect(run.output.contains("\"state\":\"unknown\"") || run.output.contains("\"state\" : \"unknown\""))
            let told = try Body.of(try #require(service.requests.first))
            #expect(told.map(\.der) == [vector.certificate])
        }
    }

    @Test("what a service answers writes no escape sequence onto the terminal")
    func whatAServiceAnswersWritesNoEscapeSequenceOntoTheTerminal() async throws {
        let answer = #"{"certificates": [{"identity": "\u001b]0;title\u0007", "state": "unknown\u001b[2J"}]}"#
        try await self.run(#""$0" sighting leaf.der $OPTIONS"#, { _ in .json(202, answer) }) { run, _, _ in
            run.expectResult()
            #expect(!run.output.contains("\u{1b}"), "\(run)")
            #expect(run.lines.first?.hasPrefix("unknown?[2J ?]0;title? ") == true, "\(run)")
        }
    }

    @Test(
        "the hook hands in what certspotter names; what is no certificate, or none that can be read, does not stop certspotter"
    )
    func hookHandsInWhatCertspotterNames() async throws {
        let vector = try Vectors.first()
        let event = "export EVENT=discovered_cert LOG_URI=https://log.example/; "
        try await self.run(
            event + #"CERT_FILENAME=chain.pem TBS_SHA256=\#(vector.identity) "$0" sighting --from certspotter $OPTIONS"#
        ) { run, service, _ in
            run.expectResult()
            let told = try Body.of(try #require(service.requests.first))
            #expect(told.map(\.der) == [vector.precertificate])
            #expect(told.map(\.chain) == [vector.chain])
            #expect(told.map(\.log) == ["https://log.example/"])
            #expect(told.map(\.loggedAt) == [nil])
        }
        for (line, errors, requests) in [
            ("EVENT=error SUMMARY=x CERT_FILENAME=chain.pem", "certspotter reports error", 0),
            ("CERT_FILENAME=cut.der", "not handed in", 0),
            ("CERT_FILENAME=chain.pem TBS_SHA256=00", "certspotter says TBS_SHA256 00", 1),
        ] {
            try await self.run("\(event)\(line) \"$0\" sighting --from certspotter $OPTIONS") { run, service, _ in
                #expect(run.exitCode == 0, "\(run)")
                #expect(run.errors.contains(errors), "\(run)")
                #expect(service.requests.count == requests)
            }
        }
    }

    @Test("an error that another try can mend fails the hook: certspotter comes back to it")
    func errorThatAnotherTryCanMendFailsTheHookCertspotterComesBackToIt() async throws {
        let event = "EVENT=discovered_cert CERT_FILENAME=chain.pem \"$0\" sighting --from certspotter $OPTIONS"
        for (answer, exit) in [
            (RecordingService.Answer.problem(503, "too-many-sightings", "full"), Int32(2)), (.cut, 2),
            (.problem(401, "token-needed", "no"), 1), (.json(202, "{}"), 2), (.json(202, #"{"certificates": []}"#), 2),
        ] {
            try await self.run(event, { _ in answer }) { run, _, _ in run.expectError(exit) }
        }
        try await self.run("EVENT=discovered_cert \"$0\" sighting --from certspotter $OPTIONS") { run, _, _ in
            run.expectError(2, hint: true)
        }
        try await self.run("CERT_FILENAME=chain.pem \"$0\" sighting --from certspotter $OPTIONS") { run, _, _ in
            run.expectError(64, hint: true)
        }
        for line in ["", "chain.pem --from certspotter", "--from stranger", "--json-lines - chain.pem"] {
            try await self.run("\"$0\" sighting \(line) $OPTIONS </dev/null") { run, _, _ in #expect(run.exitCode == 64)
            }
        }
    }

    @Test("lines of search services are read, 64 a request; one that is none is said, and the others go on")
    func linesOfSearchServicesAreRead64ARequest() async throws {
        let vector = try Vectors.first()
        let certificate = vector.certificate
        let lines = [
            #"{"id": "1", "dns_names": ["a"], "cert_der": "\#(certificate)", "x": 1.5e300}"#,
            #"{"cert": {"type": "precert", "data": "\#(vector.precertificate)"}, "log": "l"}"#, "[]", "",
            #"{"raw": "\#(certificate)"}"#, #"{"dns_names": ["a"]}"#, #"{"der": "AAEC"}"#,
            #"{"der": "\#(certificate)", "chain": ["\#(vector.chain[0])"], "loggedAt": "2026-11-21T00:00:00Z"}"#,
        ]
        let text = lines.joined(separator: "\n")
        try await self.run("\"$0\" sighting --json-lines - $OPTIONS <<'END'\n\(text)\nEND\n") { run, service, _ in
            #expect(run.exitCode == 2, "\(run)")
            #expect(
                run.errorLines.map { $0.contains("object 3") || $0.contains("object 5") || $0.contains("object 6") }
                    == [true, true, true])
            #expect(run.lines.count == 4)
            let told = try Body.of(try #require(service.requests.first))
            #expect(told.map(\.der) == [certificate, vector.precertificate, certificate, certificate])
            #expect(told.last?.chain == [vector.chain[0]])
        }
        let many = Array(repeating: #"{"der": "\#(certificate)"}"#, count: 130).joined(separator: "\n")
        try await self.run("\"$0\" sighting --json-lines - $OPTIONS <<'END'\n\(many)\nEND\n") { run, service, _ in
            run.expectResult()
            #expect(run.lines.count == 130)
            let counts = try service.requests.map { try Body.of($0).count }
            #expect(counts == [64, 64, 2])
        }
    }
}
