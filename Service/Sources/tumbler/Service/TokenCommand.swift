// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import PinListDifference
import PinListServer

/// The tokens that open parts of the service.
struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Make, list and revoke the tokens of the service.",
        subcommands: [TokenCreateCommand.self, TokenListCommand.self, TokenRevokeCommand.self])
}

struct TokenCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Make a token, and print its secret, once.",
        discussion: "The service keeps a hash alone: a secret that is lost is replaced by another token.")

    @Option(
        help: "publish (lists of the names), probe (results for the names) or read (dashboard, metrics, status).",
        transform: { text in
            guard let scope = AccessToken.Scope(rawValue: text) else {
                throw ValidationError("\(text) is none of publish, probe, read")
            }
            return scope
        })
    var scope: AccessToken.Scope

    @Option(name: .customLong("name"), help: ArgumentHelp("A list that it is for.", valueName: "name"))
    var names: [String] = []

    @Flag(help: "Print id and secret as JSON.")
    var json = false

    @OptionGroup var service: LocalServiceOptions
    @OptionGroup var time: TimeOption

    func validate() throws {
        guard self.scope == .read || !self.names.isEmpty else {
            throw ValidationError("a token of scope \(self.scope.rawValue) is bound to names: --name NAME")
        }
        guard self.scope != .read || self.names.isEmpty else {
            throw ValidationError("a token of scope read is for all names; leave --name out")
        }
        guard self.names.allSatisfy({ !$0.isEmpty && !$0.contains(" ") }) else {
            throw ValidationError("a name has no blanks")
        }
    }

    func run() async throws {
        let configuration = try self.service.layers().configuration
        let store = try LocalServiceOptions.store(configuration)
        var generator = SystemRandomNumberGenerator()
        let random = (0..<AccessToken.randomBytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        guard let made = AccessToken.make(self.scope, names: self.names, random: random, at: self.time.time) else {
            throw CommandFailure(.undecided, "no token could be made")
        }
        let (scope, names, time) = (self.scope, self.names, self.time.time)
        try await store.write { store in
            try store.add(made.token)
            let bound = names.isEmpty ? "" : " for \(names.joined(separator: ", "))"
            try store.log("token-create", "\(made.token.id), \(scope.rawValue)\(bound)", by: "cli", at: time)
        }
        for name in self.names where configuration.roots[name] == nil {
            StandardError.note("no root is configured for \(name) yet")
        }
        struct Made: Encodable {
            let id: String
            let secret: String
        }
        if self.json { return try JSONOutput.write(Made(id: made.token.id, secret: made.secret)) }
        StandardError.note("token \(made.token.id): keep the secret in a file that only its user can read")
        try StandardOutput.write(lines: [made.secret])
    }
}

struct TokenListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the tokens, those that are revoked, too.")

    @Flag(help: "Print them as JSON.")
    var json = false

    @OptionGroup var service: LocalServiceOptions

    func run() async throws {
        struct Shown: Encodable {
            let id: String
            let scope: String
            let names: [String]
            let madeAt: String
            let revokedAt: String?
        }
        let store = try LocalServiceOptions.store(try self.service.layers().configuration)
        let tokens = try await store.read { try $0.tokens() }.map { token in
            Shown(
                id: token.id, scope: token.scope.rawValue, names: token.names, madeAt: token.madeAt.description,
                revokedAt: token.revokedAt?.description)
        }
        if self.json { return try JSONOutput.write(tokens) }
        try StandardOutput.write(
            lines: tokens.map { token in
                let names = token.names.isEmpty ? "all names" : token.names.joined(separator: ",")
                return "\(token.id)  \(token.scope)  \(names)  made \(token.madeAt)"
                    + (token.revokedAt.map { "  revoked \($0)" } ?? "")
            })
    }
}

struct TokenRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke a token: it opens nothing from now on.")

    @Argument(help: "The id, as tumbler token list shows it.")
    var id: String

    @OptionGroup var service: LocalServiceOptions
    @OptionGroup var time: TimeOption

    func run() async throws {
        let store = try LocalServiceOptions.store(try self.service.layers().configuration)
        let (id, time) = (self.id, self.time.time)
        let isRevoked = try await store.write { store in
            guard try store.revokeToken(id: id, at: time) else { return false }
            try store.log("token-revoke", id, by: "cli", at: time)
            return true
        }
        guard isRevoked else {
            throw CommandFailure(
                .doesNotHold, "there is no token \(id) that is not revoked", hint: "tumbler token list")
        }
        try StandardOutput.write(lines: ["revoked \(id)"])
    }
}
