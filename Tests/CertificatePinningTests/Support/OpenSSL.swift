// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The `openssl` on PATH: the second implementation that pins are compared with.
struct OpenSSL: Sendable {
    /// A command that did not end well.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The first `openssl` on PATH, or `nil`.
    static let installed: OpenSSL? = (ProcessInfo.processInfo.environment["PATH"] ?? "")
        .split(separator: ":")
        .map { URL(fileURLWithPath: String($0), isDirectory: true).appendingPathComponent("openssl") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }
        .map { OpenSSL(executable: $0) }

    let executable: URL

    /// The pipeline of formats.md, section 1, for each file: DER if it is called so, else PEM.
    private static let pinPipeline = """
        for file in "$@"; do
            case "$file" in *.der) form=DER ;; *) form=PEM ;; esac
            "$0" x509 -in "$file" -inform $form -pubkey -noout | "$0" pkey -pubin -outform DER \
                | "$0" dgst -sha256 -binary | "$0" base64
        done
        """

    /// What the pipeline prints when `openssl x509` failed at its head: the SHA-256 of nothing.
    private static let digestOfNothing = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    /// Runs one command in a folder and gives what it printed.
    ///
    /// - Throws: ``Failure``, with the command and what it said, when it does not end with 0.
    @discardableResult
    func run(_ arguments: [String], in folder: URL) async throws -> String {
        try await Self.run(self.executable, arguments, in: folder)
    }

    /// What openssl says the pins of some certificate files are, as bare base64, in their order.
    func pins(of certificates: [URL], in folder: URL) async throws -> [String] {
        let shell = URL(fileURLWithPath: "/bin/sh")
        let arguments = ["-c", Self.pinPipeline, self.executable.path] + certificates.map(\.path)
        let lines = try await Self.run(shell, arguments, in: folder).split(separator: "\n").map(String.init)
        guard lines.count == certificates.count, !lines.contains(Self.digestOfNothing) else {
            throw Failure(description: "openssl cannot read every one of \(certificates.map(\.lastPathComponent))")
        }
        return lines
    }

    /// Output goes into files, not pipes: nobody has to empty a file while the process runs, and no sibling that is
    /// started at the same moment holds the other end of it.
    private static func run(_ executable: URL, _ arguments: [String], in folder: URL) async throws -> String {
        let outputs = ["out", "err"].map { folder.appendingPathComponent("\(UUID().uuidString).\($0)") }
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.standardInput = FileHandle.nullDevice
        for output in outputs { try Data().write(to: output) }
        let handles = try outputs.map { try FileHandle(forWritingTo: $0) }
        process.standardOutput = handles[0]
        process.standardError = handles[1]

        let status = try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Int32, any Error>) in
            process.terminationHandler = { ended.resume(returning: $0.terminationStatus) }
            do { try ProcessStart.run(process) } catch { ended.resume(throwing: error) }
        }
        let texts = try outputs.map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) }
        guard status == 0 else {
            let command = ([executable.lastPathComponent] + arguments).joined(separator: " ")
            throw Failure(description: "`\(command)` ended with \(status): \(texts[1])")
        }
        return texts[0]
    }
}
