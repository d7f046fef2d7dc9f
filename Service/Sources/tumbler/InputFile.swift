// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation

/// A file that someone names on the command line, read within a bound.
enum InputFile {
    /// The name that stands for standard input.
    static let standardInput = "-"

    /// The most bytes that are read of one: what PEM may have.
    static let maximumLength = PEMBlock.maximumLength

    /// Reads a file whole.
    ///
    /// - Parameters:
    ///   - path: Its path, or `-` for standard input.
    ///   - maximumLength: The most bytes of it.
    /// - Throws: ``CommandFailure`` when there is no such file, or it cannot be read, is empty or too large.
    static func read(
        _ path: String, maximumLength: Int = Self.maximumLength
    ) throws(CommandFailure) -> [UInt8] {
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
            throw CommandFailure(.undecided, "\(name): \(self.reason(for: error))")
        }
        guard !data.isEmpty else { throw CommandFailure(.undecided, "\(name): the file is empty") }
        guard data.count <= maximumLength else {
            throw CommandFailure(
                .undecided, "\(name): over \(maximumLength >> 20) MiB, which is more than is read")
        }
        return Array(data)
    }

    /// Opens a file for reading.
    ///
    /// - Parameter path: Its path, or `-` for standard input.
    /// - Throws: ``CommandFailure`` when there is no such file, or no right to read it.
    static func open(_ path: String) throws(CommandFailure) -> FileHandle {
        guard path != self.standardInput else { return .standardInput }
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue {
            throw CommandFailure(.undecided, "\(path): this is a folder")
        }
        do {
            return try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        } catch {
            throw CommandFailure(.undecided, "\(path): \(self.reason(for: error))")
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

/// A chain in a file: PEM, the server's certificate first, or one certificate in DER.
enum ChainFile {
    /// The certificates in DER; `nil` when there is none in it.
    ///
    /// - Throws: ``CommandFailure`` for PEM that cannot be read.
    static func certificates(in bytes: [UInt8], named path: String) throws(CommandFailure) -> [[UInt8]]? {
        do throws(InputError) {
            let certificates = try PEMBlock.blocks(in: bytes).filter { $0.label == PEMBlock.certificateLabel }.map(
                \.bytes)
            if !certificates.isEmpty { return certificates }
        } catch {
            throw CommandFailure(.undecided, "\(path): \(error)")
        }
        // One certificate in DER is a chain of one.
        return (try? CertificateFields(walking: bytes)) == nil ? nil : [bytes]
    }
}
