// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import PinListRepository

@Suite("A file that is written")
struct WrittenFileTests {
    private func path(_ name: String, in folder: URL) -> String { folder.appendingPathComponent(name).path }

    @Test("is there whole, in place of the one before, with nothing beside it", arguments: ["a", "file.json", ".x"])
    func isThereWholeInPlaceOfTheOneBeforeWithNothingBesideIt(name: String) async throws {
        try await withTemporaryFolder { folder in
            for text in ["one", "another one"] {
                try WrittenFile.write(
                    Array(text.utf8), to: self.path(name, in: folder), .published, existing: .replaced)
                #expect(try folder.text(of: name) == text)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [name])
            }
        }
    }

    @Test("leaves a link a link, and the file behind it is the new one")
    func leavesALinkALinkAndTheFileBehindItIsTheNewOne() async throws {
        try await withTemporaryFolder { folder in
            try folder.write("old", as: "target")
            let link = self.path("link", in: folder)
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "target")
            try WrittenFile.write(Array("new".utf8), to: link, .published, existing: .replaced)
            #expect(try folder.text(of: "target") == "new")
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "target")
        }
    }

    @Test("takes no name that something has, not even a link that leads nowhere")
    func takesNoNameThatSomethingHasNotEvenALinkThatLeadsNowhere() async throws {
        try await withTemporaryFolder { folder in
            let link = self.path("link", in: folder)
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "nowhere")
            let error = #expect(throws: RepositoryError.self) {
                try WrittenFile.write([1], to: link, .secret, existing: .kept)
            }
            #expect(error?.code == .file)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["link"])
        }
    }
}

@Suite("A file that is read")
struct BoundedFileTests {
    @Test("has at most so many bytes, endless ones included; none at all is an error, too")
    func hasAtMostSoManyBytesEndlessOnesIncludedNoneAtAllIsAnErrorToo() async throws {
        try await withTemporaryFolder { folder in
            try folder.write("12345", as: "five")
            try folder.write("", as: "empty")
            let path = { (name: String) in folder.appendingPathComponent(name).path }
            #expect(try BoundedFile.read(path("five"), maximum: 5) == Array("12345".utf8))
            for (path, maximum) in [
                (path("five"), 4), ("/dev/zero", 100_000), (path("empty"), 5), (path("no"), 5), (folder.path, 5),
            ] {
                let error = #expect(throws: RepositoryError.self) { try BoundedFile.read(path, maximum: maximum) }
                #expect(error?.code == .file, "\(path)")
            }
        }
    }
}
