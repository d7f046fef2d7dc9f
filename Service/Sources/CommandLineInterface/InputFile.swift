// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
package import Foundation
import PinListRepository

/// A file that is named on the command line, read within a bound.
package enum InputFile {
    /// The name of standard input.
    package static let standardInput = "-"

    /// The maximum number of bytes that are read of one: what PEM may have.
    package static let maximumLength = PEMBlock.maximumLength

    /// Reads a file whole.
    ///
    /// - Parameters:
    ///   - path: Its path, or `-` for standard input.
    ///   - maximumLength: The most bytes of it.
    /// - Throws: ``CommandError`` when there is no such file, or it cannot be read, is empty or too large.
    package static func read(
        _ path: String, maximumLength: Int = Self.maximumLength
    ) throws(CommandError) -> [UInt8] {
        let name = self.name(of: path)
        let handle = try self.open(path)
        defer { try? handle.close() }
        let bytes: [UInt8]
        do { bytes = try BoundedFile.bytes(of: handle, maximum: maximumLength) } catch {
            throw CommandError(.undecided, "\(name): \(BoundedFile.reason(for: error))")
        }
        guard !bytes.isEmpty else { throw CommandError(.undecided, "\(name): the file is empty") }
        guard bytes.count <= maximumLength else {
            throw CommandError(
                .undecided, "\(name): over \(maximumLength >> 20) MiB, which is more than is read")
        }
        return bytes
    }

    /// Opens a file for reading.
    ///
    /// - Parameter path: Its path, or `-` for standard input.
    /// - Throws: ``CommandError`` when there is no such file, or no right to read it.
    package static func open(_ path: String) throws(CommandError) -> FileHandle {
        guard path != self.standardInput else { return .standardInput }
        do throws(RepositoryError) { return try BoundedFile.open(path) } catch {
            throw CommandError(.undecided, "\(path): \(error.reason)")
        }
    }

    private static func name(of path: String) -> String { path == self.standardInput ? "standard input" : path }
}
