// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinListRepository
import Testing

@Suite("A project that is made")
struct NewProjectTests {
    private func project(in folder: URL) throws -> NewProject {
        try NewProject(
            in: ProjectFolder(folder), name: "com.example.app",
            entries: [
                NewProject.Entry(
                    "api.example.com",
                    pins: [
                        KnownPin(try Pin(SourceText.pin("a")), note: "current"),
                        KnownPin(try Pin(SourceText.pin("b")), note: "backup"),
                    ])
            ], at: SourceText.now)
    }

    @Test("a disk that is full before the backup key is written leaves no list that pins a key which is nowhere")
    func diskFullBeforeTheBackupKeyIsWrittenLeavesNoListThatPinsAKeyWhichIsNowhere() async throws {
        try await withTemporaryFolder { folder in
            let project = try self.project(in: folder)
            await #expect(throws: RepositoryError.self) {
                try await project.write(rootPassphrase: nil, pinsPassphrase: nil) {
                    throw RepositoryError(.file, "keys/backup-api.example.com.pem cannot be written")
                }
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(!left.contains("tumbler.yaml") && !left.contains("pins.json") && !left.contains("lists"), "\(left)")
        }
    }

    @Test(
        "what an earlier project left is refused before a key is made: half a project would be left, or one of two",
        arguments: ["keys/pins.pem.pub", "root/2.json", "lists/1.json", "lists/published.jsonl"])
    func whatAnEarlierProjectLeftIsRefusedBeforeAKeyIsMade(name: String) async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try folder.write("of before", as: name)
            let error = #expect(throws: RepositoryError.self) { try self.project(in: folder) }
            #expect(error?.reason.contains("\(name) is there already") == true)
        }
    }

    @Test("a .gitignore in another encoding than UTF-8 keeps all its lines")
    func gitignoreInAnotherEncodingThanUTF8KeepsAllItsLines() async throws {
        try await withTemporaryFolder { folder in
            let before = Data(Array("caf".utf8) + [0xE9] + Array("/\nbuild".utf8))
            try folder.write(before, as: ".gitignore")
            try await self.project(in: folder).write(rootPassphrase: nil, pinsPassphrase: nil)
            let after = try folder.contents(of: ".gitignore")
            #expect(after.starts(with: before + Data("\nkeys/\n".utf8)))
        }
    }

    @Test("the other keys are written into the folder of the project, which is whole then")
    func otherKeysAreWrittenIntoTheFolderOfTheProjectWhichIsWholeThen() async throws {
        try await withTemporaryFolder { folder in
            try await self.project(in: folder).write(rootPassphrase: nil, pinsPassphrase: nil) {
                try folder.write("a key", as: "keys/backup.pem")
            }
            #expect(try folder.text(of: "keys/backup.pem") == "a key")
            #expect(try ProjectFolder(folder).publishedList()?.version == 1)
            #expect(try folder.text(of: "tumbler.yaml").contains(SourceText.pin("b")))
        }
    }
}
