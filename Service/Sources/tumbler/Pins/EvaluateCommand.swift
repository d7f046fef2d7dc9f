// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import PathValidation

/// `evaluate`: decides whether the app would accept a chain, and why.
struct EvaluateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evaluate",
        abstract: "Evaluate a certificate chain exactly as an app will.",
        discussion: """
            Validates the presented chain (PEM, leaf first, the rest in any order) against the roots, then the pins \
            against the path that was validated. Pins come with --pin, or from a signed list with --list and the root \
            that vouches for it; without either the chain alone decides. --logs and --transparency ask for a certificate \
            that was logged as a policy of Certificate Transparency asks; with --list, --logs alone evaluates what its \
            entries ask for, and must be the log list that it names. --crl and --revocation ask for one that is not \
            revoked. Exit code 0: allowed, 1: \
            blocked, 2: could not be decided.

            --batch reads one question a line, {"id","host","chain":[PEM],"roots":[PEM],"at"?,"nameCheck"?,"pins"?,"list"?,"root"?,"logs"?,"transparency"?,"crls"?,"revocation"?}, \
            and answers each with one line, in the same order.
            """
    )

    @Option(help: "The host that the connection is made for, without a port.")
    var host: String?

    @Option(
        help: ArgumentHelp("The presented chain in PEM, leaf first; - is standard input.", valueName: "file"),
        completion: .file())
    var chain: String?

    @Option(
        help: ArgumentHelp("The anchors in PEM, or `system` (the default).", valueName: "file|system"),
        completion: .file())
    var roots: String?

    @Option(name: .customLong("pin"), help: "A pin of this host, in any written form. May be given several times.")
    var pins: [String] = []

    @Option(help: ArgumentHelp("A signed list, as an app ships it.", valueName: "file"), completion: .file())
    var list: String?

    @Option(help: ArgumentHelp("The root whose keys sign the list.", valueName: "file"), completion: .file())
    var root: String?

    @Flag(name: .customLong("no-name-check"), help: "Do not check that the certificate is for this host.")
    var noNameCheck = false

    @Option(
        help: ArgumentHelp("Answer many questions, JSON Lines; - is standard input.", valueName: "file|-"),
        completion: .file())
    var batch: String?

    @Flag(help: "Print the decision as JSON.")
    var json = false

    @OptionGroup var transparency: TransparencyOptions

    @OptionGroup var revocation: RevocationOptions

    @OptionGroup var time: TimeOption

    func validate() throws {
        let single =
            self.host != nil || self.chain != nil || self.roots != nil || !self.pins.isEmpty || self.noNameCheck
            || self.list != nil || self.root != nil
        if self.batch != nil, single { throw ValidationError("--batch takes its questions from the file alone") }
        if self.batch == nil, self.host == nil { throw ValidationError("--host is missing") }
        if let advice = self.host.flatMap(HostArgument.advice) { throw ValidationError("--host: \(advice)") }
        if self.batch == nil, self.chain == nil { throw ValidationError("--chain is missing") }
        if self.transparency.logs != nil, self.transparency.transparency == nil, self.list == nil, self.batch == nil {
            throw ValidationError("--logs without --transparency applies the policy of a list, and there is no --list")
        }
        if (self.list == nil) != (self.root == nil) { throw ValidationError("--list and --root go together") }
        if self.list != nil, !self.pins.isEmpty {
            throw ValidationError("pins are from --list or --pin, not from both")
        }
    }

    func run() async throws {
        let time = self.time.time
        let demand = try self.transparency.demand(at: time)
        let revocation = try self.revocation.check()
        if let batch {
            let evaluation = BatchEvaluation(
                defaultTime: time, defaultDemand: demand, defaultRevocation: revocation)
            return try await evaluation.run(reading: batch)
        }
        guard let host, let chain else { return }
        let rules = try self.rules()
        if case .list(let list) = rules {
            do throws(InputError) { try demand?.expect(list.logs) } catch {
                throw CommandError(.undecided, error.reason, hint: "--logs is the file that the list was built with")
            }
            if demand == nil, list.asksForTransparency {
                StandardError.note(
                    "the list asks for Certificate Transparency, which is not evaluated without --logs")
            }
        }
        let evaluation = Evaluation(
            host: host, presented: try Self.certificates(in: chain), rules: rules,
            checksName: !self.noNameCheck, transparency: demand, revocation: revocation, time: time)
        let decision = try await evaluation.decide(roots: try RootsOption.load(self.roots ?? RootsOption.system))
        if self.json {
            try JSONOutput.write(decision)
        } else {
            let colour: Colour = decision.verdict == .allow ? .green : .red
            try StandardOutput.write(lines: [colour.word(decision.verdict.rawValue, of: decision.description)])
        }
        guard decision.verdict == .allow else { throw ExitCode(CommandExit.doesNotHold.rawValue) }
    }

    private func rules() throws(CommandError) -> Evaluation.Rules {
        if let list, let root { return .list(try SignedList(list: list, root: root)) }
        var pins: [KnownPin] = []
        for text in self.pins {
            do throws(InputError) {
                pins.append(KnownPin(try Pin(text)))
            } catch {
                throw CommandError(
                    .usage, "--pin \(text): \(error)", hint: "tumbler pin prints the pins of what you have")
            }
        }
        return .pins(pins)
    }

    private static func certificates(in path: String) throws(CommandError) -> [[UInt8]] {
        if let chain = try ChainFile.certificates(in: try InputFile.read(path), named: path) { return chain }
        throw CommandError(
            .undecided, "\(path): no certificate in it", hint: "a chain is PEM, the server's certificate first")
    }
}
