// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The `openssl` on PATH: it makes what the tests ask about, and says which pins that has.
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

    /// The end of the pipeline of formats.md, section 1.
    private static let digest = #""$0" dgst -sha256 -binary | "$0" base64"#

    /// The output of the pipeline when the command at its head failed: the SHA-256 of nothing.
    private static let digestOfNothing = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    /// Runs one command in a folder.
    ///
    /// - Parameter command: The command without `openssl`; its words are parted by blanks.
    /// - Throws: ``Failure``, with the command and what it said, when it does not end with 0.
    func run(_ command: String, in folder: URL) async throws {
        try await self.run(command.split(separator: " ").map(String.init), in: folder)
    }

    /// Runs one command, given as its words.
    func run(_ arguments: [String], in folder: URL) async throws {
        let run = try await FinishedProcess.run(self.executable, arguments, in: folder)
        guard run.status == 0 else {
            let errors = String(decoding: run.errors, as: UTF8.self)
            let command = "openssl \(arguments.joined(separator: " "))"
            throw Failure(description: "\(command) ended with \(run.status): \(errors)")
        }
    }

    /// Runs a line of shell, in which `$0` is this openssl, and gives what it printed, without the last line break.
    func shell(_ line: String, in folder: URL) async throws -> String {
        let shell = URL(fileURLWithPath: "/bin/sh")
        let run = try await FinishedProcess.run(shell, ["-c", line, self.executable.path], in: folder)
        guard run.status == 0 else { throw Failure(description: "\(line) ended with \(run.status)") }
        return String(decoding: run.output, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    /// The pins of certificate files: formats.md, section 1, word by word.
    func pins(ofCertificates files: [String], in folder: URL) async throws -> [String] {
        var pins: [String] = []
        for file in files { pins.append(try await self.pin(of: "x509 -in \(file) -pubkey -noout", in: folder)) }
        return pins
    }

    /// The pin of the public key that a command prints in PEM.
    func pin(of command: String, in folder: URL) async throws -> String {
        let line = #""$0" \#(command) | "$0" pkey -pubin -outform DER | \#(Self.digest)"#
        let digest = try await self.shell(line, in: folder)
        guard digest.count == 44, digest != Self.digestOfNothing else {
            throw Failure(description: "openssl \(command): no pin but \(digest)")
        }
        return "sha256/\(digest)"
    }

    /// Makes `NAME.pem`, and `NAME.key` unless there is one.
    ///
    /// - Parameters:
    ///   - name: What the files are called.
    ///   - subject: The subject as openssl reads it, such as `/CN=api.example.com`.
    ///   - issuer: The name of who signs; itself when `nil`.
    ///   - extensions: Extensions as openssl reads them.
    func makeCertificate(
        _ name: String, subject: String, issuedBy issuer: String? = nil, extensions: [String] = [], in folder: URL
    ) async throws {
        // The additions of the system's own configuration are left out.
        try folder.write("[req]\ndistinguished_name = none\n[none]\n", as: "request.cnf")
        var arguments = ["req", "-x509", "-config", "request.cnf", "-utf8", "-subj", subject, "-out", "\(name).pem"]
        if FileManager.default.fileExists(atPath: folder.appendingPathComponent("\(name).key").path) {
            arguments += ["-key", "\(name).key"]
        } else {
            let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
            arguments += curve + ["-noenc", "-keyout", "\(name).key"]
        }
        if let issuer { arguments += ["-CA", "\(issuer).pem", "-CAkey", "\(issuer).key"] }
        try await self.run(arguments + extensions.flatMap { ["-addext", $0] }, in: folder)
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips where there is no openssl.
    static var needsOpenSSL: Self {
        .enabled(if: OpenSSL.installed != nil, "there is no openssl on PATH to make what is asked about")
    }
}
