// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinListRepository

/// `tumbler.yaml`: reading, building, and the edits of suspend and resume.
enum YAMLSource: FuzzTarget {
    static let name = "yaml-source"

    private struct NoFiles: SourceFiles {
        func bytes(of path: String, limit: Int) throws(RepositoryError) -> [UInt8] {
            throw RepositoryError(.file, "no such file")
        }
    }

    private static let time = Timestamp(secondsSince1970: 1_795_219_200)

    static func check(_ bytes: [UInt8]) {
        let source: ListSource
        do {
            source = try ListSource(bytes, file: "tumbler.yaml", files: NoFiles())
        } catch {
            // Every refusal names the file.
            precondition(error.reason.hasPrefix("tumbler.yaml:"))
            return
        }
        // A source is equal to itself read again, and a client reads the built list as it was built.
        precondition((try? ListSource(bytes, file: "tumbler.yaml", files: NoFiles())) == source)
        if let list = try? PinList(building: source, after: nil, at: self.time) {
            precondition((try? PinList(payload: list.payload)) == list)
            _ = Linter(list, at: self.time).findings
        }
        guard let edit = try? SuspensionEdit(bytes, file: "tumbler.yaml", files: NoFiles()) else { return }
        let suspension = Suspension(
            .everything, until: Timestamp(secondsSince1970: self.time.secondsSince1970 + 60), reason: "fuzzing")
        guard let suspended = try? edit.suspending(suspension, at: self.time) else { return }
        let again = try? ListSource(suspended, file: "tumbler.yaml", files: NoFiles())
        precondition(again?.suspended.contains { $0.value == suspension } == true)
        precondition(again?.domains == source.domains)
    }
}
