// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Testing

@Suite("The rotation of an entry that includes its subdomains")
struct RotateSubdomainTests {
    private static let below = RotatedProject.below
    private static let host = ProbeScene.host

    @Test("a forgotten host below the entry that serves the old key keeps its pin: its users are not locked out")
    func forgottenHostBelowTheEntryThatServesTheOldKeyKeepsItsPin() async throws {
        try await RotatedProject.with { project in
            try await project.announce()
            // A probe saw it once.
            #expect(try await project.probe(day: 1, ["--host", Self.below]).exitCode == 0)
            try await project.makeReady()
            try project.serve(project.new)
            let early = try await project.rotate("next", day: 32)
            early.expectError(1, hint: true)
            let place = "\(Self.below) (127.0.0.1:\(project.server.port))"
            #expect(early.errors.contains("\(place) does not serve the new key"), "\(early)")
            try project.serveBelow(project.new)
            let switched = try await project.rotate("next", day: 32)
            #expect(switched.lines == ["\(Self.host): ready, now switched"], "\(switched)")
            // It is rolled out anew, from an old image.
            try project.serveBelow(project.old)
            for day: Int64 in [39, 46] {
                #expect(try await project.probe(day: day, ["--host", Self.below]).exitCode == 0)
            }
            let closed = try await project.rotate("next", day: 47, ["--yes"])
            closed.expectError(1, hint: true)
            #expect(closed.errors.contains("\(place) serves an old key"), "\(closed)")
            try project.serveBelow(project.new)
            for day: Int64 in [48, 55, 61] { #expect(try await project.rotate("status", day: day).exitCode == 0) }
            let retired = try await project.rotate("next", day: 63, ["--yes"])
            #expect(
                retired.lines == ["\(Self.host): switched, now retired, with version 3 of the list"], "\(retired)")
        }
    }

    @Test("a probe that leaves out a known host below the entry is no look, and names the host")
    func probeThatLeavesOutAKnownHostBelowTheEntryIsNoLookAndNamesTheHost() async throws {
        try await RotatedProject.with { project in
            try await project.announce()
            #expect(try await project.probe(day: 1, ["--host", Self.below]).exitCode == 0)
            try await project.makeReady()
            try project.serve(project.new)
            try project.serveBelow(project.new)
            #expect(try await project.rotate("next", day: 32).exitCode == 0)
            try project.serveBelow(project.old)
            for day: Int64 in [39, 46] {
                let probe = try await project.probe(day: day)
                #expect(probe.exitCode == 0 && probe.errors.contains("\(Self.below) not asked"), "\(probe)")
            }
            // No probe looked while it served the old key: the 14 days begin today.
            try project.serveBelow(project.new)
            let closed = try await project.rotate("next", day: 47, ["--yes"])
            closed.expectError(1, hint: true)
            #expect(closed.errors.contains("less than 14 days"), "\(closed)")
        }
    }

    @Test("an abort does not take away the new pin while a host below the entry serves the new key")
    func abortDoesNotTakeAwayTheNewPinWhileAHostBelowTheEntryServesTheNewKey() async throws {
        try await RotatedProject.with { project in
            try await project.announce()
            #expect(try await project.probe(day: 1, ["--host", Self.below]).exitCode == 0)
            try project.serveBelow(project.new)
            let before = try project.files
            let refused = try await project.rotate("abort", day: 2, ["--yes"])
            refused.expectError(1, hint: true)
            #expect(refused.errors.contains("\(Self.below) (127.0.0.1:\(project.server.port)) serves the new key"))
            #expect(try project.files == before)
            try project.serveBelow(project.old)
            let aborted = try await project.rotate("abort", day: 2, ["--yes"])
            #expect(
                aborted.lines == ["\(Self.host): aborted; version 3 of the list is without the new pin"], "\(aborted)")
        }
    }

    @Test("a host below that was never asked is a note; one that is named once is asked by every later step")
    func hostBelowThatWasNeverAskedIsANoteOneThatIsNamedOnceIsAskedByEveryLaterStep() async throws {
        try await RotatedProject.with { project in
            let note = "\(Self.host) includes subdomains, and no host below it was ever asked"
            try await project.announce()
            let status = try await project.rotate("status", day: 30)
            #expect(status.output.contains("  note: \(note)"), "\(status)")
            // It decides nothing.
            let ready = try await project.rotate("next", day: 31)
            #expect(ready.exitCode == 0 && ready.errors.contains("note: \(note)"), "\(ready)")
            try project.serve(project.new)
            for more in [["--host", Self.below], []] {
                let early = try await project.rotate("next", day: 32, more)
                early.expectError(1, hint: true)
                #expect(early.errors.contains(Self.below), "\(early)")
            }
            let known = try await project.rotate("status", day: 32)
            #expect(known.exitCode == 0 && !known.output.contains(note), "\(known)")
        }
    }

    @Test("a named host that is not of the rotation is a mistake of the caller, and nothing is written")
    func namedHostThatIsNotOfTheRotationIsAMistakeOfTheCallerAndNothingIsWritten() async throws {
        try await RotatedProject.with { project in
            let strange = ["--host", "other.example.com"]
            let pins = ["--pin", "\(try project.new.pin)", "--old", "\(try project.old.pin)"]
            try await project.rotate("plan", day: 0, pins + strange).expectError(64, hint: true)
            let rotations = project.scene.folder.appendingPathComponent("project/rotations").path
            #expect(!FileManager.default.fileExists(atPath: rotations))
            try await project.announce()
            let before = try project.files
            for command in ["status", "next", "abort"] {
                let run = try await project.rotate(command, day: 1, strange)
                run.expectError(64, hint: true)
                #expect(run.errors.contains("other.example.com"), "\(run)")
            }
            try await project.rotate("next", day: 1, ["--host", Self.below, "--no-look"]).expectError(64)
            try await CommandRun.tumbler(
                ["rotate", "status", "-C", "project", "--host", Self.below], in: project.scene.folder
            ).expectError(64)
            #expect(try project.files == before)
        }
    }
}
