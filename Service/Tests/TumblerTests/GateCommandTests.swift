// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Crypto
import Foundation
import NIOHTTP1
import PinListMetadata
import PinRotation
import Testing

@Suite("The gate before a deployment")
struct GateCommandTests {
    /// Runs the gate on what the scene's server would present.
    private func gate(
        _ scene: ProbeScene, _ more: [String] = [], host: String = ProbeScene.host, certificate: String = "chain.pem"
    ) async throws -> CommandRun {
        try await CommandRun.tumbler(
            ["gate", host, "-C", "project", "--certificate", certificate, "--roots", "anchors.pem"] + more,
            in: scene.folder)
    }

    /// A project whose first list, 60 days old, knows other keys than the chain in `chain.pem`.
    private func withProject(
        _ chain: (TestPKI) throws -> [TestCertificate] = { $0.chain }, _ body: (ProbeScene) async throws -> Void
    ) async throws {
        try await ProbeScene.with(chain) { scene in
            try scene.folder.write(try chain(scene.pki).map { try $0.pem }.joined(), as: "chain.pem")
            try await scene.makeProject()
            try await body(scene)
        }
    }

    /// A service that serves the project's list, has counted these, and takes answers of the gate.
    private func withService(
        _ scene: ProbeScene, _ adoption: String, gates: RecordingService.Answer = .says(204, [:], ""),
        _ body: (RecordingService, [String]) async throws -> Void
    ) async throws {
        let list = try scene.folder.text(of: "project/pins.json")
        try scene.folder.writeToken()
        try await RecordingService.with({ request in
            if request.method == "POST" { return gates }
            return request.path.hasSuffix("/adoption") ? .json(200, adoption) : .json(200, list)
        }) { service in
            try await body(service, ["--server", service.address, "--token-file", "token"])
        }
    }

    /// The answer of a service that counted a thousand requests, so many of each version.
    private static func adoption(_ versions: String, requests: Int = 1_000) -> String {
        #"{"state":"measured","period":86400,"requests":\#(requests),"versions":{\#(versions)}}"#
    }

    private static let unmeasured = #"{"measured":false,"period":"24h","requests":0,"share":null}"#

    @Test("a key that was not announced is unsafe, word by word")
    func keyThatWasNotAnnouncedIsUnsafeWordByWord() async throws {
        try await self.withProject { scene in
            let run = try await self.gate(scene, ["--json"])
            #expect(run.exitCode == 1, "\(run)")
            #expect(
                run.output == #"{"host":"api.example.com","matched":null,"notedHostname":"api.example.com","#
                    + #""reason":"version 1 refuses it: no pin matches","#
                    + #""refusing":\#(Self.unmeasured),"verdict":"unsafe"}"# + "\n")
            #expect(run.errors.isEmpty, "\(run)")
        }
    }

    @Test("announced yesterday: unknown, and unknown is not safe")
    func announcedYesterdayUnknownAndUnknownIsNotSafe() async throws {
        try await self.withProject { scene in
            try scene.addPin()
            #expect(try await scene.release(daysAgo: 1).exitCode == 0)
            let run = try await self.gate(scene, ["--json"])
            #expect(run.exitCode == 2, "\(run)")
            #expect(
                run.output
                    == #"{"host":"api.example.com","matched":{"pin":"\#(try scene.pki.leaf.pin)","position":"any"},"#
                    + #""notedHostname":"api.example.com","reason":"version 1, which installations may still hold, "#
                    + #"refuses it; adoption is not measured (there is no service)","#
                    + #""refusing":\#(Self.unmeasured),"verdict":"unknown"}"# + "\n")
        }
    }

    @Test("announced a month ago: safe by time, and the words say that nothing was measured")
    func announcedAMonthAgoSafeByTimeAndTheWordsSayThatNothingWasMeasured() async throws {
        try await self.withProject { scene in
            try scene.addPin()
            #expect(try await scene.release(daysAgo: 30).exitCode == 0)
            let run = try await self.gate(scene)
            run.expectResult()
            #expect(
                run.lines == [
                    "api.example.com: safe. every list of the last propagation accepts it (version 2); adoption is not "
                        + "measured (there is no service)",
                    "  entry: api.example.com", "  matched: \(try scene.pki.leaf.pin), position any",
                    "  refusing: not measured",
                ])
            // An hour before that the list of then was still held.
            let before = Timestamp(secondsSince1970: ProbeScene.now - 3_600).description
            #expect(try await self.gate(scene, ["--at", before]).exitCode == 2)
        }
    }

    @Test(
        "what the service counted decides, after any time; the answer is in its audit log",
        arguments: [
            (#""1":10,"2":990"#, [], 0.01, "safe", 0), (#""1":11,"2":989"#, [], 0.011, "unsafe", 1),
            (#""1":11,"2":989"#, ["--max-refusing", "1.1"], 0.011, "safe", 0),
            (#""2":900"#, [], 0.1, "unsafe", 1), (#""2":900,"7":100"#, [], 0.1, "unsafe", 1),
            (#""2":1000"#, ["--max-refusing", "0"], 0, "safe", 0),
        ] as [(String, [String], Double, String, Int32)])
    func whatTheServiceCountedDecidesAfterAnyTimeTheAnswerIsInItsAuditLog(
        versions: String, options: [String], share: Double, verdict: String, exit: Int32
    ) async throws {
        try await self.withProject { scene in
            try scene.addPin()
            #expect(try await scene.release(daysAgo: 40).exitCode == 0)
            try await self.withService(scene, Self.adoption(versions)) { service, server in
                let run = try await self.gate(scene, ["--json"] + options + server)
                #expect(run.exitCode == exit && run.errors.isEmpty, "\(run)")
                let answer: GateAnswer = try run.decoded()
                #expect(answer.verdict.rawValue == verdict, "\(answer)")
                #expect(answer.refusing == GateRefusing(share: share, hours: 24, requests: 1_000))
                let posted = try #require(service.requests("POST").first)
                #expect(service.requests("POST").count == 1)
                #expect(posted.path == "/v1/lists/com.example.app/gates")
                #expect(posted.headers["Authorization"] == ["Bearer tumbler_0123456789abcdef_00ff"])
                let record = try JSONDecoder().decode(GateRecord.self, from: Data(posted.body))
                let digest = SHA256.hash(data: scene.pki.leaf.der)
                #expect(record == GateRecord(answer, certificate: Hexadecimal.text(of: digest)))
            }
        }
    }

    @Test("of a project that was never exported pins.json is uploaded by its people: a release is out")
    func ofAProjectThatWasNeverExportedPinsJSONIsUploadedByItsPeople() async throws {
        try await self.withProject { scene in
            try scene.addPin()
            let released = try await CommandRun.tumbler(
                ["release", "-C", "project", "--yes", "--at", ProbeScene.time(40)], in: scene.folder)
            #expect(released.exitCode == 0 && !released.errors.contains("nothing is out"), "\(released)")
            try await self.gate(scene).expectResult()
        }
    }

    @Test("a list that no folder got is not out, and the gate is not safe by it", arguments: [[], ["--no-publish"]])
    func listThatNoFolderGotIsNotOutAndTheGateIsNotSafeByIt(options: [String]) async throws {
        try await self.withProject { scene in
            if options.isEmpty { try await scene.export(daysAgo: 60) }
            try scene.addPin()
            let released = try await CommandRun.tumbler(
                ["release", "-C", "project", "--yes", "--at", ProbeScene.time(40)] + options, in: scene.folder)
            #expect(
                released.exitCode == 0 && released.errors.contains("nothing is out yet: tumbler export DIR"),
                "\(released)")
            let lines = "project/lists/published.jsonl"
            #expect(try !scene.folder.text(of: lines).contains(#""version":2"#))
            let unknown = try await self.gate(scene)
            #expect(
                unknown.exitCode == 2 && unknown.output.contains("version 1, which installations may still hold"),
                "\(unknown)")
            let export = try await CommandRun.tumbler(
                ["export", "www", "-C", "project", "--at", ProbeScene.time(35)], in: scene.folder)
            export.expectResult()
            #expect(try scene.folder.text(of: lines).contains(#""at":"\#(ProbeScene.time(35))""#))
            try await self.gate(scene).expectResult()
        }
    }

    @Test("a version that another checkout published is not the list of that number here: who holds it may refuse")
    func versionThatAnotherCheckoutPublishedIsNotTheListOfThatNumberHere() async throws {
        try await self.withProject { scene in
            let (folder, project) = (scene.folder, scene.folder.appendingPathComponent("project"))
            try FileManager.default.copyItem(at: project, to: folder.appendingPathComponent("other"))
            func release(daysAgo: Int64) async throws -> CommandRun {
                try await CommandRun.tumbler(
                    ["release", "-C", "other", "--yes", "--export", "www", "--at", ProbeScene.time(daysAgo)], in: folder
                )
            }
            #expect(try await release(daysAgo: 20).exitCode == 0)
            try scene.addPin()
            try folder.write(try project.text(of: "tumbler.yaml"), as: "other/tumbler.yaml")
            #expect(try await release(daysAgo: 1).exitCode == 0)
            // Here version 2 has the pin, and was never published.
            let signed = try await CommandRun.shell(
                #"""
                cd project && "$0" build --at \#(ProbeScene.time(10)) -o list.payload &&                 "$0" sign list.payload --yes -o pins.json
                """#, in: folder)
            #expect(signed.exitCode == 0, "\(signed)")
            let served = try folder.text(of: "other/pins.json")
            try await RecordingService.with({ request in
                request.path.hasSuffix("/adoption")
                    ? .json(200, Self.adoption(#""2":950,"3":50"#)) : .json(200, served)
            }) { service in
                let run = try await self.gate(scene, ["--json", "--server", service.address])
                #expect(run.exitCode == 1, "\(run)")
                let answer: GateAnswer = try run.decoded()
                #expect(answer.verdict == .unsafe && answer.refusing.share == 0.95, "\(answer)")
            }
        }
    }

    @Test(
        "an answer that the audit log does not take is the same answer, with a warning",
        arguments: [
            RecordingService.Answer.problem(403, "wrong-scope", "no"), .says(500, [:], ""), .says(200, [:], ""), .cut,
        ])
    func answerThatTheAuditLogDoesNotTakeIsTheSameAnswerWithAWarning(answer: RecordingService.Answer) async throws {
        try await self.withProject { scene in
            try await self.withService(scene, Self.adoption(#""1":1000"#), gates: answer) { _, server in
                let run = try await self.gate(scene, server)
                #expect(run.exitCode == 1 && run.output.hasPrefix("api.example.com: unsafe. "), "\(run)")
                #expect(run.errorLines.count == 1, "\(run)")
                #expect(run.errors.hasPrefix("tumbler: warning: this answer is not in the audit log: "), "\(run)")
            }
        }
    }

    @Test(
        "a service that says nothing of use makes nothing safer: by time, or unknown",
        arguments: [
            RecordingService.Answer.json(200, adoption(#""2":299"#, requests: 299)),
            .json(200, #"{"state":"not-measured","period":86400,"requests":9000,"why":"caches"}"#),
            .json(200, "{}"), .problem(403, "wrong-scope", "no"), .says(404, [:], ""), .cut, .endless,
            .json(200, adoption(#""2":1001"#)), .json(200, adoption(#""2":-1"#)),
        ])
    func serviceThatSaysNothingOfUseMakesNothingSaferByTimeOrUnknown(answer: RecordingService.Answer) async throws {
        try await self.withProject { scene in
            try scene.addPin()
            #expect(try await scene.release(daysAgo: 1).exitCode == 0)
            let list = try scene.folder.text(of: "project/pins.json")
            try await RecordingService.with({ request in
                request.path.hasSuffix("/adoption") ? answer : .json(200, list)
            }) { service in
                let run = try await self.gate(scene, ["--json", "--server", service.address])
                #expect(run.exitCode == 2, "\(run)")
                let answer: GateAnswer = try run.decoded()
                #expect(answer.verdict == .unknown && !answer.refusing.isMeasured)
                #expect(answer.reason.contains("adoption is not measured ("), "\(answer)")
                // Without a token nothing is recorded, where no token is needed on loopback either.
                #expect(service.requests("POST").isEmpty)
            }
        }
    }

    @Test("a list that the project's roots do not hold is not believed, and nor is what its service counted")
    func listThatTheProjectsRootsDoNotHoldIsNotBelievedAndNorIsWhatItsServiceCounted() async throws {
        try await self.withProject { scene in
            try scene.addPin()
            #expect(try await scene.release(daysAgo: 1).exitCode == 0)
            let forged = try scene.folder.text(of: "project/pins.json").replacing(#""sig":""#, with: #""sig":"AAAA"#)
            for list in [RecordingService.Answer.json(200, forged), .says(404, [:], ""), .says(500, [:], "")] {
                try await RecordingService.with({ request in
                    request.path.hasSuffix("/adoption") ? .json(200, Self.adoption(#""2":1000"#)) : list
                }) { service in
                    let run = try await self.gate(scene, ["--json", "--server", service.address])
                    #expect(run.exitCode == 2, "\(run)")
                    let answer: GateAnswer = try run.decoded()
                    #expect(!answer.refusing.isMeasured, "\(answer)")
                }
            }
        }
    }

    @Test("a checkout that is behind is not safe by time while the list that the service serves cannot be had")
    func checkoutThatIsBehindIsNotSafeByTimeWhileTheListThatTheServiceServesCannotBeHad() async throws {
        try await self.withProject { scene in
            try scene.addPin()
            #expect(try await scene.release(daysAgo: 31).exitCode == 0)
            let forged = try scene.folder.text(of: "project/pins.json").replacing(#""sig":""#, with: #""sig":"AAAA"#)
            let answers: [(RecordingService.Answer, Int32)] = [
                (.json(200, forged), 2), (.says(500, [:], ""), 2), (.cut, 2),
                // Where nothing was ever published, nothing newer is out.
                (.says(404, [:], ""), 0),
            ]
            for (list, exit) in answers {
                try await RecordingService.with({ request in
                    request.path.hasSuffix("/adoption") ? .says(404, [:], "") : list
                }) { service in
                    let run = try await self.gate(scene, ["--server", service.address])
                    #expect(run.exitCode == exit, "\(run)")
                    #expect(exit == 0 || run.output.contains("the list that \(service.address) serves"), "\(run)")
                }
            }
        }
    }

    @Test("a chain that has expired, is for another host, or is not trusted is unsafe")
    func chainThatHasExpiredIsForAnotherHostOrIsNotTrustedIsUnsafe() async throws {
        for (words, chain) in ProbeScene.invalidChains {
            try await self.withProject(chain) { scene in
                let run = try await self.gate(scene)
                #expect(run.exitCode == 1 && run.output.contains(words), "\(run)")
            }
        }
    }

    @Test("a certificate that ends in six days is unsafe, and so is any when it is asked for a time after its end")
    func certificateThatEndsInSixDaysIsUnsafe() async throws {
        func chain(_ pki: TestPKI) throws -> [TestCertificate] {
            let leaf = try TestCertificate.server(by: pki.intermediate, key: pki.leaf.key) { form in
                form.notBefore = ProbeScene.now - 84 * ProbeScene.day
                form.notAfter = ProbeScene.now + 6 * ProbeScene.day
            }
            return [leaf, pki.intermediate]
        }
        try await self.withProject(chain) { scene in
            try scene.addPin()
            #expect(try await scene.release(daysAgo: 31).exitCode == 0)
            let run = try await self.gate(scene)
            #expect(run.exitCode == 1 && run.output.contains("less than 7 days is left"), "\(run)")
            #expect(try await self.gate(scene, ["--at", ProbeScene.time(-7)]).output.contains("expired"))
        }
    }

    @Test("a key and its request, before there is a certificate")
    func keyAndItsRequestBeforeThereIsACertificate() async throws {
        try await ProbeScene.with { scene in
            let made = try await CommandRun.shell(
                #"""
                "$0" key new k.pem --insecure-plaintext >/dev/null && \
                "$0" key csr k.pem --subject CN=api.example.com --dns api.example.com -o k.csr
                """#, in: scene.folder)
            #expect(made.exitCode == 0, "\(made)")
            let pin = try #require(try await CommandRun.tumbler(["pin", "k.csr"], in: scene.folder).pins.first)
            try await scene.makeProject([pin, ProjectText.pin("b")])
            for file in ["k.csr", "k.pem.pub", "k.pem"] {
                let run = try await self.gate(scene, ["--json"], certificate: file)
                #expect(run.exitCode == 0, "\(run)")
                let answer: GateAnswer = try run.decoded()
                #expect(answer.verdict == .safe && answer.matched?.pin.description == pin, "\(answer)")
            }
            let source = try scene.folder.text(of: "project/tumbler.yaml")
            try scene.folder.write(
                source.replacing("    pins:\n", with: "    requireIssuer: true\n    pins:\n")
                    .replacing("{pin: \"\(pin)\"", with: "{pin: \"\(pin)\", position: leaf")
                    .replacing(
                        "{pin: \"\(ProjectText.pin("b"))\"", with: "{pin: \"\(ProjectText.pin("b"))\", position: issuer"
                    ),
                as: "project/tumbler.yaml")
            let release = try await scene.release(daysAgo: 40, ["--allow", "no-backup-pin"])
            #expect(release.exitCode == 0, "\(release)")
            let unknown = try await self.gate(scene, certificate: "k.csr")
            #expect(unknown.exitCode == 2 && unknown.output.contains("requires a pin of the issuer"), "\(unknown)")
        }
    }

    @Test("a host that no list covers is not silently safe")
    func hostThatNoListCoversIsNotSilentlySafe() async throws {
        let pki = try TestPKI(["apj.example.com"])
        try await self.withProject({ _ in pki.chain }) { scene in
            try scene.folder.write(try pki.root.pem, as: "anchors.pem")
            let run = try await self.gate(scene, host: "apj.example.com")
            #expect(run.exitCode == 2 && run.output.contains("no list covers apj.example.com"), "\(run)")
        }
    }

    @Test("without a project the service and the name of the list are enough")
    func withoutAProjectTheServiceAndTheNameOfTheListAreEnough() async throws {
        try await self.withProject { scene in
            try scene.addPin()
            #expect(try await scene.release(daysAgo: 40).exitCode == 0)
            for (versions, exit) in [(#""2":1000"#, 0), (#""1":20,"2":980"#, 1)] as [(String, Int32)] {
                try await self.withService(scene, Self.adoption(versions)) { _, server in
                    let gate =
                        ["gate", ProbeScene.host, "--certificate", "chain.pem", "--roots", "anchors.pem"] + server
                    let run = try await CommandRun.tumbler(gate + ["--name", "com.example.app"], in: scene.folder)
                    #expect(run.exitCode == exit, "\(run)")
                    #expect(run.errors.contains("no root verifies this list"), "\(run)")
                    try await CommandRun.tumbler(gate, in: scene.folder).expectError(2)
                }
            }
        }
    }

    @Test("an unreadable file is unknown, and a wrong option is usage")
    func unreadableFileIsUnknownAndAWrongOptionIsUsage() async throws {
        try await self.withProject { scene in
            try scene.folder.write("", as: "empty.pem")
            try scene.folder.write("rubbish\n", as: "rubbish.pem")
            for file in ["missing.pem", "empty.pem", "rubbish.pem"] {
                let run = try await self.gate(scene, certificate: file)
                run.expectError(2)
            }
            try await self.gate(scene, ["--roots", "missing.pem"]).expectError(2)
            try await self.gate(scene, ["--name", "com.example.other"]).expectError(64)
            try await self.gate(scene, ["--max-refusing", "101"]).expectError(64)
            try await self.gate(scene, ["--max-refusing", "nan"]).expectError(64)
            try await self.gate(scene, host: "no host").expectError(64)
            try scene.folder.write("rubbish\n", as: "project/lists/published.jsonl")
            try await self.gate(scene).expectError(2, hint: true)
        }
    }
}
