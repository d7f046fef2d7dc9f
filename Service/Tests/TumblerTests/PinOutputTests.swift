// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("The output of pin", .needsOpenSSL)
struct PinOutputTests {
    /// The name of a certificate that tries to break out of a line of text, of YAML, or of a terminal.
    static let hostileName = "\"}\n          - {pin: \"sha256\\/x\", note: 'y' # &a *b !!c\u{1b}[2J\u{202e}\\\\ é 😀"

    @Test("a plain line is the pin, a blank, and the subject; the kind of key where there is none")
    func plainLineIsThePinABlankAndTheSubjectTheKindOfKeyWhereThereIsNone() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await openssl.makeCertificate("server", subject: "/O=Example/CN=api.example.com", in: folder)
            let run = try await CommandRun.tumbler(["pin", "server.pem", "server.key"], in: folder)
            run.expectResult()
            let pin = try await openssl.pins(ofCertificates: ["server.pem"], in: folder)[0]
            #expect(run.lines == ["\(pin) CN=api.example.com, O=Example", "\(pin) EC P-256 private-key"])
        }
    }

    @Test("--json of certificates, leaf and issuer: every member, and no other")
    func jsonOfCertificatesLeafAndIssuerEveryMemberAndNoOther() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let chain = try await TestChain(with: openssl, in: folder)
            let run = try await CommandRun.tumbler(["pin", "--json", chain.file], in: folder)
            run.expectResult()
            #expect(try run.members() == Array(repeating: PrintedPin.members, count: 3))
            let pins = try run.decoded(as: [PrintedPin].self)
            #expect(try await pins.map(\.pin) == openssl.pins(ofCertificates: chain.presented, in: folder))
            #expect(pins.map(\.kind) == ["certificate", "certificate", "certificate"])
            #expect(pins.map(\.source) == [chain.file, chain.file, chain.file])
            #expect(pins.map(\.position) == ["leaf", "issuer", "issuer"])
            let subjects = ["CN=api.example.com", "CN=good issuing, O=Example", "CN=good policy, O=Example"]
            #expect(pins.map(\.subject) == subjects)
            #expect(pins.map(\.algorithm) == ["EC P-256", "EC P-256", "EC P-256"])
            for (pin, file) in zip(pins, chain.presented) {
                for (time, option) in [(pin.notBefore, "startdate"), (pin.notAfter, "enddate")] {
                    let line = #""$0" x509 -in \#(file) -noout -\#(option) -dateopt iso_8601"#
                    let expected = try await openssl.shell(line, in: folder).split(separator: "=").last
                    #expect(time == expected?.replacingOccurrences(of: " ", with: "T"))
                }
            }
        }
    }

    @Test("--json of keys and requests: the same members, null where a key has nothing to say")
    func jsonOfKeysAndRequestsTheSameMembersNullWhereAKeyHasNothingToSay() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await openssl.makeCertificate("server", subject: "/CN=api.example.com", in: folder)
            let request = "req -new -config request.cnf -subj /CN=next -key server.key -out server.csr"
            try await openssl.run(request, in: folder)
            try await openssl.run("pkey -in server.key -pubout -out server.pub", in: folder)
            let files = ["server.key", "server.csr", "server.pub"]
            let run = try await CommandRun.tumbler(["pin", "--json"] + files, in: folder)
            run.expectResult()
            #expect(try run.members() == Array(repeating: PrintedPin.members, count: 3))
            let pins = try run.decoded(as: [PrintedPin].self)
            #expect(pins.map(\.kind) == ["private-key", "request", "public-key"])
            #expect(pins.map(\.source) == files)
            #expect(pins.map(\.position) == [nil, nil, nil])
            #expect(pins.map(\.subject) == [nil, "CN=next", nil])
            #expect(pins.map(\.notBefore) == [nil, nil, nil])
            #expect(pins.map(\.notAfter) == [nil, nil, nil])
        }
    }

    @Test("a hostile subject stays on its line, without control characters, in every form")
    func hostileSubjectStaysOnItsLineWithoutControlCharactersInEveryForm() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await openssl.makeCertificate("hostile", subject: "/L=\(Self.hostileName)", in: folder)
            for form in [[], ["--yaml"], ["--json"]] {
                let run = try await CommandRun.tumbler(["pin", "hostile.pem"] + form, in: folder)
                run.expectResult()
                #expect(run.lines.count == 1, "\(run)")
                let forbidden = run.output.unicodeScalars.filter {
                    [.control, .format, .lineSeparator].contains($0.properties.generalCategory) && $0 != "\n"
                }
                #expect(forbidden.isEmpty, "\(run)")
            }
        }
    }

    @Test("a --yaml line is the pin and one string of JSON, which is one of YAML")
    func yamlLineIsThePinAndOneStringOfJSONWhichIsOneOfYAML() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await openssl.makeCertificate("hostile", subject: "/L=\(Self.hostileName)", in: folder)
            let json = try await CommandRun.tumbler(["pin", "--json", "hostile.pem"], in: folder)
            let pin = try #require(try json.decoded(as: [PrintedPin].self).first)
            let run = try await CommandRun.tumbler(["pin", "--yaml", "hostile.pem"], in: folder)
            run.expectResult()
            let line = try #require(run.lines.first)
            let start = "          - {pin: \"\(pin.pin)\", note: "
            try #require(line.hasPrefix(start) && line.hasSuffix("}"), "\(run)")
            let note = Data(line.dropFirst(start.count).dropLast().utf8)
            #expect(try JSONDecoder().decode(String.self, from: note) == pin.subject)
        }
    }

    @Sendable private static func pythonReadsYAML() async throws -> Bool {
        let environment = URL(fileURLWithPath: "/usr/bin/env")
        let python = try await FinishedProcess.run(
            environment, ["python3", "-c", "import yaml"], in: FileManager.default.temporaryDirectory)
        return python.status == 0
    }

    @Test(
        "--yaml under pins: of an entry is what a YAML parser reads back",
        .enabled("there is no python3 with a YAML parser", Self.pythonReadsYAML))
    func yamlUnderPinsOfAnEntryIsWhatAYAMLParserReadsBack() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let chain = try await TestChain(with: openssl, in: folder)
            try await openssl.makeCertificate("hostile", subject: "/L=\(Self.hostileName)", in: folder)
            let inputs = ["hostile.pem", chain.file, chain.key]
            let json = try await CommandRun.tumbler(["pin", "--json"] + inputs, in: folder)
            let expected = try json.decoded(as: [PrintedPin].self)
            let run = try await CommandRun.tumbler(["pin", "--yaml"] + inputs, in: folder)
            run.expectResult()
            let entry = "domains:\n      - domain: api.example.com\n        pins:\n\(run.output)        mode: report\n"
            try folder.write(entry, as: "tumbler.yaml")
            let script = "import json, yaml; print(json.dumps(yaml.safe_load(open('tumbler.yaml', encoding='utf-8'))))"
            let python = URL(fileURLWithPath: "/usr/bin/env")
            let parsed = try await FinishedProcess.run(python, ["python3", "-c", script], in: folder)
            struct Source: Decodable { let domains: [Domain] }
            struct Domain: Decodable {
                let pins: [[String: String]]
                let mode: String
            }
            let domains = try JSONDecoder().decode(Source.self, from: parsed.output).domains
            #expect(domains.map(\.mode) == ["report"])
            #expect(domains.first?.pins.map { $0["pin"] } == expected.map(\.pin))
            #expect(domains.first?.pins.map { $0["note"] } == expected.map { $0.subject ?? "EC P-256 private-key" })
        }
    }

    @Test("--yaml and --json exclude each other")
    func yamlAndJsonExcludeEachOther() async throws {
        try await withTemporaryFolder { folder in
            try await CommandRun.tumbler(["pin", "--yaml", "--json", "x.pem"], in: folder).expectError(64)
        }
    }
}
