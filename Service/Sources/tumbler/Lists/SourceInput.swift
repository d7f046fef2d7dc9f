// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation
import PinListMetadata
import PinListRepository

/// A source with the project that it stands in.
struct SourceInput {
    /// The source.
    let source: ListSource

    /// Its folder: the newest list and the roots are there, if there are any.
    let project: ProjectFolder

    /// Reads a source.
    ///
    /// - Parameters:
    ///   - path: Its path; `nil` for that of the project folder.
    ///   - option: The option that names the project.
    /// - Throws: ``CommandError``.
    init(_ path: String?, _ option: ProjectOption) throws(CommandError) {
        do {
            if let path {
                let file = URL(fileURLWithPath: path, relativeTo: ProjectOption.working)
                self.project = ProjectFolder(file.deletingLastPathComponent())
                self.source = try Self.read(path, DiskFiles(in: ProjectOption.working))
            } else {
                self.project = try option.find()
                self.source = try Self.read(ProjectFolder.sourceName, DiskFiles(in: self.project.folder))
            }
        } catch let failure as CommandError {
            throw failure
        } catch let error as RepositoryError {
            throw CommandError(error)
        } catch {
            throw CommandError(.undecided, "\(error)")
        }
    }

    private static func read(_ file: String, _ files: DiskFiles) throws -> ListSource {
        let bytes: [UInt8]
        do { bytes = try files.bytes(of: file, limit: ListSource.maximumLength) } catch {
            throw RepositoryError(error.code, "\(file): \(error.reason)", hint: error.hint)
        }
        return try ListSource(bytes, file: file, files: files)
    }

    /// The newest list that is known: the one in the project or the published one, whichever is newer.
    ///
    /// - Throws: ``CommandError`` when one is there and cannot be read or does not verify.
    func newest(_ published: KnownList?) throws(CommandError) -> PinList? {
        let held: PinList?
        do throws(RepositoryError) { held = try self.project.publishedList() } catch { throw CommandError(error) }
        guard let held else { return published?.list }
        guard let published, published.list.version > held.version else { return held }
        return published.list
    }
}
