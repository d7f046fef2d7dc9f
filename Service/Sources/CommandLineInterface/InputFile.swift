// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
package import Foundation

/// A file that is named on the command line, read within a bound.
package enum InputFile {
    /// The name of standard input.
    package static let standardInput = "-"

    /// The most bytes that are read of one: what PEM may have.
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
        var data = Data()
        do {
            // Pipes and devices have no size: what bounds the reading is the reading.
            while data.count <= maximumLength, let part = try handle.read(upToCount: 1 << 20), !part.isEmpty {
                data.append(part)
            }
        } catch {
            throw CommandError(.undecided, "\(name): \(self.reason(for: error))")
        }
        guard !data.isEmpty else { throw CommandError(.undecided, "\(name): the file is empty") }
        guard data.count <= maximumLength else {
            throw CommandError(
                .undecided, "\(name): over \(maximumLength >> 20) MiB, which is more than is read")
        }
        return Array(data)
    }

    /// Opens a file for reading.
    ///
    /// - Parameter path: Its path, or `-` for standard input.
    /// - Throws: ``CommandError`` when there is no such file, or no right to read it.
    package static func open(_ path: String) throws(CommandError) -> FileHandle {
        guard path != self.standardInput else { return .standardInput }
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue {
            throw CommandError(.undecided, "\(path): this is a folder")
        }
        do {
            return try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        } catch {
            throw CommandError(.undecided, "\(path): \(self.reason(for: error))")
        }
    }

    private static func name(of path: String) -> String { path == self.standardInput ? "standard input" : path }

    private static func reason(for error: any Error) -> String {
        switch (error as? CocoaError)?.code {
        case .fileReadNoSuchFile, .fileNoSuchFile: "no such file"
        case .fileReadNoPermission: "no right to read it"
        default: "it cannot be read"
        }
    }
}
