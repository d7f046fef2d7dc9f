// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A token of SoftHSM 2 in a folder, with keys on it that never leave it.
struct SoftHSM: Sendable {
    /// The error of a part that could not be made.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private static let modules = [
        "/usr/lib/softhsm/libsofthsm2.so", "/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so",
        "/usr/lib/aarch64-linux-gnu/softhsm/libsofthsm2.so", "/usr/lib64/pkcs11/libsofthsm2.so",
        "/usr/local/lib/softhsm/libsofthsm2.so", "/opt/homebrew/lib/softhsm/libsofthsm2.so",
    ]

    /// The module, where everything that makes a token is installed.
    static let module: String? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let hasTools = ["softhsm2-util", "pkcs11-tool"].allSatisfy { tool in
            folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(tool)") }
        }
        return hasTools ? Self.modules.first { FileManager.default.fileExists(atPath: $0) } : nil
    }()

    /// The environment of a command that uses the token, in a line of shell.
    let environment: String

    private let folder: URL

    /// Makes a token with the label `trial` and the PIN `1234`.
    init(in folder: URL) async throws {
        let module = try #require(Self.module)
        let tokens = folder.appendingPathComponent("tokens", isDirectory: true)
        try FileManager.default.createDirectory(at: tokens, withIntermediateDirectories: true)
        try folder.write("directories.tokendir = \(tokens.path)\nobjectstore.backend = file\n", as: "softhsm2.conf")
        try folder.write("1234\n", as: "pin")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: folder.appendingPathComponent("pin").path)
        let configuration = folder.appendingPathComponent("softhsm2.conf").path
        self.environment = "SOFTHSM2_CONF='\(configuration)' TUMBLER_PKCS11_MODULE='\(module)'"
        self.folder = folder
        try await self.run("softhsm2-util --init-token --free --label trial --so-pin 12345678 --pin 1234")
    }

    /// Makes a key pair.
    ///
    /// - Parameter type: `EC:prime256v1` or `EC:edwards25519`.
    func makeKey(_ label: String, id: String, type: String) async throws {
        let module = try #require(Self.module)
        try await self.run(
            "pkcs11-tool --module \(module) --token-label trial --login --pin 1234 --keypairgen --key-type \(type)"
                + " --id \(id) --label \(label) --usage-sign")
    }

    private func run(_ command: String) async throws {
        let shell = URL(fileURLWithPath: "/bin/sh")
        let run = try await FinishedProcess.run(shell, ["-c", "\(self.environment) \(command)"], in: self.folder)
        guard run.status == 0 else {
            throw Failure(
                description: "\(command) ended with \(run.status): \(String(decoding: run.errors, as: UTF8.self))")
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips where there is no SoftHSM to make a token.
    static var needsSoftHSM: Self {
        .enabled(if: SoftHSM.module != nil, "there is no SoftHSM 2 with pkcs11-tool to make a token with")
    }
}
