// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Testing

/// Looks compare keys, so that they never see the pin of a certificate: 14 days without it mean nothing.
@Suite("A rotation from or to the pin of a certificate")
struct RotateCertificatePinTests {
    private static let time = "2026-11-23T00:00:00Z"

    private static func certificatePin(_ letter: Character) -> String { "cert-\(ProjectText.pin(letter))" }

    @Test(
        "is not planned, at leisure or in an emergency: nothing is written",
        arguments: [("a", "cert-f"), ("cert-c", "f"), ("cert-c", "cert-f")])
    func isNotPlannedAtLeisureOrInAnEmergencyNothingIsWritten(old: String, new: String) async throws {
        func pin(_ text: String) -> String {
            let letter = text.last ?? "x"
            return text.hasPrefix("cert-") ? Self.certificatePin(letter) : ProjectText.pin(letter)
        }
        try await withTemporaryFolder { folder in
            let pins = ["a", "b", "cert-c"].map(pin).joined(separator: ",")
            let made = try await CommandRun.tumbler(
                [
                    "init", "project", "--name", "com.example.app", "--insecure-plaintext", "--at",
                    "2026-11-01T00:00:00Z", "--domain", "api.example.com=\(pins)",
                ], in: folder)
            #expect(made.exitCode == 0, "\(made)")
            let files = ["tumbler.yaml", "pins.json"]
            let before = try files.map { try folder.contents(of: "project/\($0)") }
            for (command, more) in [
                ("plan", []), ("emergency", ["--yes", "--suspend-for", "12h"]),
            ] as [(String, [String])] {
                let words = ["rotate", command, "api.example.com", "--old", pin(old), "--pin", pin(new)]
                let rest = ["-C", "project", "--no-look", "--at", Self.time]
                let run = try await CommandRun.tumbler(words + rest + more, in: folder)
                run.expectError(1, hint: true)
                #expect(run.errors.contains("is the pin of a certificate"), "\(run)")
            }
            let after = try files.map { try folder.contents(of: "project/\($0)") }
            #expect(after == before)
            let rotations = folder.appendingPathComponent("project/rotations").path
            #expect(!FileManager.default.fileExists(atPath: rotations))
        }
    }

    @Test("of an earlier version is planned and stays so: what speaks against it is said")
    func ofAnEarlierVersionIsPlannedAndStaysSo() async throws {
        try await withTemporaryFolder { folder in
            try folder.write(ProjectText.good, as: "tumbler.yaml")
            let rest = ["api.example.com", "--no-look", "--at", Self.time]
            let planned = try await CommandRun.tumbler(
                ["rotate", "plan"] + rest + ["--old", ProjectText.pin("a"), "--pin", ProjectText.pin("f")], in: folder)
            #expect(planned.exitCode == 0, "\(planned)")
            let path = "rotations/api.example.com.yaml"
            for (letter, name) in [("f", "new"), ("a", "old")] as [(Character, String)] {
                let plan = try folder.text(of: path)
                try folder.write(
                    plan.replacing("\"\(ProjectText.pin(letter))\"", with: "\"\(Self.certificatePin(letter))\""),
                    as: path)
                let status = try await CommandRun.tumbler(["rotate", "status", "--json"] + rest, in: folder)
                #expect(status.output.contains("\"gate\":\"closed\""), "\(name): \(status)")
                #expect(status.output.contains("\(Self.certificatePin(letter)) is the pin of a certificate"))
                try folder.write(plan, as: path)
            }
        }
    }

    @Test("is not aborted while its new pin is out: whether that is served is not known; one from before stays")
    func isNotAbortedWhileItsNewPinIsOutWhetherThatIsServedIsNotKnown() async throws {
        try await RotatedProject.with { project in
            let new = Self.certificatePin("f")
            let folder = project.scene.folder
            let pins = ["--pin", ProjectText.pin("f"), "--old", "\(try project.old.pin)"]
            #expect(try await project.rotate("plan", day: 0, pins).exitCode == 0)
            let path = "project/rotations/\(ProbeScene.host).yaml"
            let plan = try folder.text(of: path).replacing(ProjectText.pin("f"), with: new)
            try folder.write(plan, as: path)
            let source = try folder.text(of: "project/tumbler.yaml")
            try folder.write(
                source.replacing("    pins:\n", with: "    pins:\n      - {pin: \"\(new)\"}\n"),
                as: "project/tumbler.yaml")
            let before = try project.files
            // The host answers, with the old key.
            let refused = try await project.rotate("abort", day: 1, ["--yes"])
            refused.expectError(2, hint: true)
            #expect(refused.errors.contains("is the pin of a certificate"), "\(refused)")
            #expect(try project.files == before)
            try folder.write(plan.replacing("old:\n", with: "pinnedBefore: true\nold:\n"), as: path)
            let aborted = try await project.rotate("abort", day: 1, ["--yes"])
            #expect(aborted.lines == ["\(ProbeScene.host): aborted"], "\(aborted)")
        }
    }
}
