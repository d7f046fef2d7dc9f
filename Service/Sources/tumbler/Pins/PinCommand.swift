// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
import PathValidation
import PinListRepository

/// Prints the pins of certificates, keys, requests, or a server.
struct PinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin",
        abstract: "Print the pin of each certificate, public key, private key or certificate request.",
        discussion: """
            A name that exists is a file in PEM or DER, - is standard input. HOST:PORT and https://HOST are asked live: \
            nothing is validated unless --cacert names the anchors (a file, or the word system); then the pins are those \
            of the validated path, its anchor included.

            One line each: the pin, then the subject or the kind of key.
            """
    )

    @Argument(help: "A file, -, HOST:PORT, or https://HOST.", completion: .file())
    var inputs: [String]

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Print lines for the pins of an entry in tumbler.yaml.")
    var yaml = false

    @Flag(help: "Print JSON: beside the pin, kind, position, algorithm and validity.")
    var json = false

    @OptionGroup var time: TimeOption

    func validate() throws {
        if self.inputs.isEmpty { throw ValidationError("name at least one input") }
        if self.yaml, self.json { throw ValidationError("--yaml and --json exclude each other") }
    }

    func run() async throws {
        let connections = self.connection.connections
        let roots = try connections.anchors.map { path throws(CommandError) in try RootsOption.load(path) }
        // All or nothing: half an answer looks like a whole one in a pipe.
        var found: [PinnedMaterial] = []
        for input in self.inputs { found += try await self.materials(of: input, connections, roots: roots) }
        if self.json { return try JSONOutput.write(found) }
        try StandardOutput.write(lines: found.map { self.yaml ? $0.yamlLine : $0.line })
    }

    private func materials(
        of input: String, _ connections: Connections, roots: RootStore?
    ) async throws(CommandError) -> [PinnedMaterial] {
        if input == InputFile.standardInput || FileManager.default.fileExists(atPath: input) {
            let bytes = try InputFile.read(input)
            do { return try PinnedMaterial.all(in: bytes, named: input) } catch {
                throw CommandError(.undecided, error.reason, hint: error.hint)
            }
        }
        guard let server = ServerAddress(input) else {
            if let misuse = ServerAddress.misuse(input) { throw misuse }
            let example =
                ServerAddress("\(input):443") == nil ? "HOST:PORT or https://HOST" : "\(input):443 or https://\(input)"
            throw CommandError(.undecided, "\(input): no such file", hint: "to ask a server, write \(example)")
        }
        let presented = try await LiveServer.presentedChain(of: server, by: connections)
        let certificates = try await self.validated(presented, of: server, roots: roots)
        var materials: [PinnedMaterial] = []
        for (index, certificate) in certificates.enumerated() {
            do throws(InvalidCertificateError) {
                materials.append(try PinnedMaterial(certificate: certificate, index: index, source: input))
            } catch {
                throw CommandError(
                    .undecided, "\(server): presented certificate \(index + 1) cannot be read: \(error)")
            }
        }
        return materials
    }

    private func validated(
        _ presented: [[UInt8]], of server: ServerAddress, roots: RootStore?
    ) async throws(CommandError) -> [[UInt8]] {
        guard let roots else {
            let count = presented.count == 1 ? "one certificate" : "\(presented.count) certificates"
            StandardError.note(
                "\(server) presented \(count); nothing was validated. Anyone on the way could have "
                    + "presented them: compare with what you know, or name the anchors with --cacert")
            return presented
        }
        let validator = PathValidator(roots: roots, monotonicNanoseconds: monotonicNanoseconds)
        switch await validator.validate(presented: presented, as: .host(server.host), at: self.time.time).result {
        case .success(let path):
            StandardError.note(
                "\(server): validated against \(self.connection.anchors ?? ""); the last pin is the anchor's")
            return path.certificates
        case .failure(let refusal):
            throw CommandError(
                .doesNotHold, "\(server): what it presents does not validate: \(refusal.detail)",
                hint: "without --cacert the pins are printed without validation")
        }
    }
}
