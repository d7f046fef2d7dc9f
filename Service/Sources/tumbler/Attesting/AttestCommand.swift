// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AppAttestation
import ArgumentParser
import CommandLineInterface

/// `attest`: verifies a device's attestations and assertions.
struct AttestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attest",
        abstract: "Verify what App Attest sent: attestations, assertions and receipts.",
        discussion: """
            --batch reads one question a line, {"id","what":"attestation"|"assertion"|"receipt"} and the options of that \
            command in camel case, files as base64, and answers each with one line, in the same order. Exit code 0: \
            accepted, or every line answered; 1: refused; 2: a file cannot be read.
            """,
        subcommands: [
            AttestAttestationCommand.self, AttestAssertionCommand.self, AttestReceiptCommand.self,
            AttestBatchCommand.self,
        ],
        defaultSubcommand: AttestBatchCommand.self)
}

/// `attest --batch`: what is run where no other command is named.
struct AttestBatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "batch", abstract: "Answer many questions; the name may be left out.")

    @Option(
        help: ArgumentHelp("Answer many questions, JSON Lines; - is standard input.", valueName: "file|-"),
        completion: .file())
    var batch: String?

    @Flag(help: "Print JSON, as a batch does anyway.")
    var json = false

    func run() async throws {
        guard let batch else {
            throw ValidationError("the kind of data to verify is missing: attestation, assertion, receipt or --batch")
        }
        try await AttestBatch().run(reading: batch)
    }
}

/// An app's key.
struct AttestAttestationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attestation", abstract: "Verify that a key was made by an unmodified copy of an app.",
        discussion: """
            A refusal says the step of Apple's guide. The file is binary or base64; the challenge is taken as it is. \
            Exit code 0: accepted, 1: refused, 2: a file cannot be read.
            """)

    @Argument(help: "The attestation that the app sent; - is standard input.", completion: .file())
    var file: String

    @Option(name: .customLong("app-id"), help: ArgumentHelp("The app.", valueName: "team.bundle.id"))
    var appID: String

    @Option(name: .customLong("key-id"), help: ArgumentHelp("The key id that came with it.", valueName: "base64"))
    var keyID: String

    @Option(help: ArgumentHelp("The challenge that was given out.", valueName: "file"), completion: .file())
    var challenge: String?

    @Option(
        name: .customLong("client-data-hash"),
        help: ArgumentHelp("The hash that the app gave, in place of the challenge's.", valueName: "hex"))
    var clientDataHash: String?

    @Option(
        help: ArgumentHelp("production (the default) or development.", valueName: "name"),
        completion: .list(AttestationEnvironment.allCases.map(\.rawValue)))
    var environment: String?

    @Option(help: ArgumentHelp("The launch categories that are accepted, separated by commas.", valueName: "numbers"))
    var categories: String?

    @Option(help: ArgumentHelp("Decide as of this time instead of now.", valueName: "time"))
    var at: String?

    @Option(help: ArgumentHelp("The root in place of Apple's, PEM or DER.", valueName: "file"), completion: .file())
    var root: String?

    @Flag(help: "Print the answer as JSON.")
    var json = false

    func run() async throws {
        guard (self.challenge == nil) != (self.clientDataHash == nil) else {
            throw ValidationError("one of --challenge and --client-data-hash is needed")
        }
        var question = AttestQuestion(.attestation)
        try question.take(appID: self.appID)
        try question.take(keyID: self.keyID)
        if let clientDataHash { try question.take(clientDataHash: clientDataHash) }
        if let environment { try question.take(environment: environment) }
        if let categories { try question.take(categories: categories) }
        if let at { try question.take(time: at) }
        if let challenge { question.clientData = .bytes(try InputFile.read(challenge)) }
        if let root { question.root = try AttestFile.certificate(in: root) }
        question.object = try AttestFile.object(in: self.file)
        try await question.answer().end(asJSON: self.json)
    }
}

/// A request that an app signed.
struct AttestAssertionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "assertion", abstract: "Verify that a request was signed by a key that was attested.",
        discussion: """
            A refusal says the step of Apple's guide. Whether the challenge in the request was given (step 6), and \
            whether the key's attestation named a category and a version, is not known here. The file is binary or \
            base64; client data is taken as it is. Exit code 0: accepted, 1: refused, 2: a file cannot be read.
            """)

    @Argument(help: "The assertion that the app sent; - is standard input.", completion: .file())
    var file: String

    @Option(name: .customLong("app-id"), help: ArgumentHelp("The app.", valueName: "team.bundle.id"))
    var appID: String

    @Option(
        name: .customLong("public-key"),
        help: ArgumentHelp("The key: an uncompressed point or a SubjectPublicKeyInfo.", valueName: "file|base64"),
        completion: .file())
    var publicKey: String

    @Option(help: ArgumentHelp("The stored counter; 0 before the first.", valueName: "number"))
    var counter: UInt32

    @Option(
        name: .customLong("client-data"), help: ArgumentHelp("The request.", valueName: "file"), completion: .file())
    var clientData: String?

    @Option(
        name: .customLong("client-data-hash"),
        help: ArgumentHelp("The hash that the app gave, in place of the request's.", valueName: "hex"))
    var clientDataHash: String?

    @Flag(help: "Print the answer as JSON.")
    var json = false

    func run() async throws {
        guard (self.clientData == nil) != (self.clientDataHash == nil) else {
            throw ValidationError("one of --client-data and --client-data-hash is needed")
        }
        var question = AttestQuestion(.assertion)
        try question.take(appID: self.appID)
        if let clientDataHash { try question.take(clientDataHash: clientDataHash) }
        question.counter = self.counter
        question.key = try AttestFile.key(self.publicKey)
        if let clientData { question.clientData = .bytes(try InputFile.read(clientData)) }
        question.object = try AttestFile.object(in: self.file)
        try await question.answer().end(asJSON: self.json)
    }
}

/// Apple's receipt for a key.
struct AttestReceiptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receipt", abstract: "Verify a receipt of Apple's, and print its fields.",
        discussion: """
            The file is binary or base64. Exit code 0: accepted, 1: refused, 2: a file cannot be read.
            """)

    @Argument(help: "The receipt; - is standard input.", completion: .file())
    var file: String

    @Option(name: .customLong("app-id"), help: ArgumentHelp("The app of the receipt.", valueName: "team.bundle.id"))
    var appID: String?

    @Option(help: ArgumentHelp("Decide as of this time instead of now.", valueName: "time"))
    var at: String?

    @Option(help: ArgumentHelp("The root in place of Apple's, PEM or DER.", valueName: "file"), completion: .file())
    var root: String?

    @Flag(help: "Print the answer as JSON.")
    var json = false

    func run() async throws {
        var question = AttestQuestion(.receipt)
        if let appID { try question.take(appID: appID) }
        if let at { try question.take(time: at) }
        if let root { question.root = try AttestFile.certificate(in: root) }
        question.object = try AttestFile.object(in: self.file)
        try await question.answer().end(asJSON: self.json)
    }
}
