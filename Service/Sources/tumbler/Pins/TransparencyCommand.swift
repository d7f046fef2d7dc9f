// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CertificateTransparency
import CommandLineInterface
import Foundation
import PathValidation

/// `ct`: decides whether a certificate was logged where its owner can see it.
struct TransparencyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ct",
        abstract: "Evaluate a certificate's embedded timestamps of Certificate Transparency.",
        discussion: """
            A name that exists is a file with a chain, PEM, leaf first; - is standard input. HOST:PORT and https://HOST are \
            asked live. Without --roots nothing is validated, and the issuer is the next certificate of the chain.

            The log list is yours: there is no default, and nothing is downloaded. One line a timestamp, then the policy's \
            verdict. Exit code 0: satisfied, 1: not satisfied, 2: could not be decided.
            """
    )

    @Argument(help: "A file, -, HOST:PORT, or https://HOST.", completion: .file())
    var input: String

    @Option(
        help: ArgumentHelp("The log list, JSON in version 3 of its format.", valueName: "file"), completion: .file())
    var logs: String

    @Option(
        help: ArgumentHelp("The policy that the timestamps must satisfy.", valueName: TransparencyOptions.names),
        completion: .list(TransparencyPolicy.all.map(\.name)),
        transform: TransparencyOptions.policy)
    var policy: TransparencyPolicy = .chrome

    @Option(
        help: ArgumentHelp("Validate against these anchors, PEM, or the word system.", valueName: "file|system"),
        completion: .file())
    var roots: String?

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Print the evaluation as JSON.")
    var json = false

    @OptionGroup var time: TimeOption

    func run() async throws {
        let time = self.time.time
        let list = try LogListFile.read(self.logs).list
        LogListFile.notes(on: list, named: self.logs, at: time)
        let chain = try await self.chain(at: time)
        let evidence = TransparencyEvidence(of: chain.first ?? [], issuedBy: chain.dropFirst().first, logs: list)
        switch evidence.defect?.code {
        case .certificate: throw CommandError(.undecided, "\(self.input): \(evidence.defect?.reason ?? "")")
        case .issuer:
            throw CommandError(
                .undecided, "\(self.input): the issuer's certificate is missing or cannot be read",
                hint: "a chain is PEM, the server's certificate first, its issuer's next")
        default: break
        }
        if evidence.unknownVersions > 0 {
            StandardError.note("\(evidence.unknownVersions) of its timestamps are of a version that is not known")
        }
        let evaluation = evidence.evaluation(under: self.policy, at: time)
        if self.json { try JSONOutput.write(evaluation) } else { try StandardOutput.write(lines: evaluation.lines) }
        guard evaluation.isSatisfied else { throw ExitCode(CommandExit.doesNotHold.rawValue) }
    }

    /// The certificate and what follows it: the validated path with `--roots`, else what was presented.
    private func chain(at time: Timestamp) async throws(CommandError) -> [[UInt8]] {
        let presented: [[UInt8]]
        var identity = ServerIdentity.uncheckedName
        if self.input == InputFile.standardInput || FileManager.default.fileExists(atPath: self.input) {
            let bytes = try InputFile.read(self.input)
            guard let chain = try ChainFile.certificates(in: bytes, named: self.input) else {
                throw CommandError(
                    .undecided, "\(self.input): no certificate in it",
                    hint: "a chain is PEM, the server's certificate first")
            }
            presented = chain
        } else {
            guard let server = ServerAddress(self.input) else {
                if let misuse = ServerAddress.misuse(self.input) { throw misuse }
                throw CommandError(
                    .undecided, "\(self.input): no such file", hint: "to ask a server, write HOST:PORT or https://HOST")
            }
            presented = try await LiveServer.presentedChain(of: server, by: self.connection.connections)
            identity = .host(server.host)
        }
        guard let roots else { return presented }
        let validator = PathValidator(roots: try RootsOption.load(roots), monotonicNanoseconds: monotonicNanoseconds)
        switch await validator.validate(presented: presented, as: identity, at: time).result {
        case .success(let path): return path.certificates
        case .failure(let refusal):
            throw CommandError(
                .doesNotHold, "\(self.input): the chain does not validate: \(refusal.detail)",
                hint: "without --roots the timestamps are evaluated without validation")
        }
    }
}
