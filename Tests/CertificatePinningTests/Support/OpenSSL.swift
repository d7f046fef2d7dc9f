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

    private static func run(_ executable: URL, _ arguments: [String], in folder: URL) async throws -> String {
        let run = try await FinishedProcess.run(executable, arguments, in: folder)
        guard run.status == 0 else {
            let command = ([executable.lastPathComponent] + arguments).joined(separator: " ")
            let said = String(decoding: run.errors, as: UTF8.self)
            throw Failure(description: "`\(command)` ended with \(run.status): \(said)")
        }
        return String(decoding: run.output, as: UTF8.self)
    }
}
