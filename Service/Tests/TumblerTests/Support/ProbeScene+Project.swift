// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Testing

/// A project whose lists went out on days before now.
extension ProbeScene {
    /// The seconds of a day.
    static let day: Int64 = 86_400

    /// One moment for all: the tests take their time.
    static let now = TestPKI.now

    /// So many days ago.
    static func time(_ daysAgo: Int64) -> String {
        Timestamp(secondsSince1970: self.now - daysAgo * self.day).description
    }

    /// Makes `project` in the scene's folder, so many days ago: an entry for the host with two pins.
    func makeProject(
        _ pins: [String] = [ProjectText.pin("a"), ProjectText.pin("b")], propagation: String = "30d",
        daysAgo: Int64 = 60
    ) async throws {
        let setUp = try await CommandRun.tumbler(
            [
                "init", "project", "--name", "com.example.app", "--insecure-plaintext", "--at", Self.time(daysAgo),
                "--domain", "\(Self.host)=\(pins.joined(separator: ","))",
            ], in: self.folder)
        #expect(setUp.exitCode == 0, "\(setUp)")
        let source = try self.folder.text(of: "project/tumbler.yaml")
        try self.folder.write(
            source.replacing("propagation: 30d", with: "propagation: \(propagation)"), as: "project/tumbler.yaml")
    }

    /// Adds a pin to the source: that of what is served, where no other is given.
    func addPin(_ pin: Pin? = nil) throws {
        let source = try self.folder.text(of: "project/tumbler.yaml")
        let added = try pin ?? self.pki.leaf.pin
        try self.folder.write(
            source.replacing("    pins:\n", with: "    pins:\n      - {pin: \"\(added)\", note: new}\n"),
            as: "project/tumbler.yaml")
    }

    /// Writes the project's list into the folder `www`.
    func export(daysAgo: Int64) async throws {
        let time = Self.time(daysAgo)
        try await CommandRun.tumbler(["export", "www", "-C", "project", "--at", time], in: self.folder).expectResult()
    }

    /// Releases the project's list, into the folder `www`.
    func release(daysAgo: Int64, _ more: [String] = []) async throws -> CommandRun {
        try await CommandRun.tumbler(
            ["release", "-C", "project", "--yes", "--export", "www", "--at", Self.time(daysAgo)] + more,
            in: self.folder)
    }
}
