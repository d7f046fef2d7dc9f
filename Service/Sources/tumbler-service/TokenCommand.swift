// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
import PinListRepository
import PinListServer
import PinListStore

/// The tokens that open parts of the service.
struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: ServiceCommand.token.rawValue, abstract: ServiceCommand.token.abstract,
        subcommands: [TokenCreateCommand.self, TokenListCommand.self, TokenRevokeCommand.self])
}

struct TokenCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Make a token, and print its secret, once.",
        discussion: "The service stores only a hash: replace a lost secret by another token.")

    @Option(
        help: ArgumentHelp(
            "publish (lists of the names), probe (results for the names), read (dashboard, metrics, status) or operate "
                + "(what read opens, and acknowledging and silencing alarms)."),
        completion: .list(AccessToken.Scope.allCases.map(\.rawValue)),
        transform: { text in
            guard let scope = AccessToken.Scope(rawValue: text) else {
                let known = AccessToken.Scope.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("\(text) is not one of \(known)")
            }
            return scope
        })
    var scope: AccessToken.Scope

    @Option(name: .customLong("name"), help: ArgumentHelp("A list that the token is for.", valueName: "name"))
    var names: [String] = []

    @Option(help: "The purpose, such as \"CI of the app\".")
    var label = ""

    @Option(help: "The responsible person or team; by default the user who runs this.")
    var owner: String?

    @Option(
        help: ArgumentHelp("The lifetime of the token: 90d, 12h.", valueName: "duration"),
        transform: { text in
            guard let seconds = SourceDuration.seconds(of: text) else {
                throw ValidationError("\(text) is not \(SourceDuration.form)")
            }
            return seconds
        })
    var expires: Int64?

    @Flag(help: "Print id and secret as JSON.")
    var json = false

    @OptionGroup var service: LocalServiceOptions
    @OptionGroup var time: TimeOption

    func validate() throws {
        guard !self.scope.isBoundToNames || !self.names.isEmpty else {
            throw ValidationError("a token of scope \(self.scope.rawValue) is bound to names: --name NAME")
        }
        guard self.scope.isBoundToNames || self.names.isEmpty else {
            throw ValidationError("a token of scope \(self.scope.rawValue) is for all names; leave --name out")
        }
        guard self.names.allSatisfy({ !$0.isEmpty && !$0.contains(" ") }) else {
            throw ValidationError("a name has no blanks")
        }
        for text in [self.label, self.owner ?? ""] where !AccessToken.isText(text) {
            throw ValidationError(
                "a label and an owner have at most \(AccessToken.maximumTextScalars) characters, all of which can be seen"
            )
        }
        guard self.label != AccessToken.loginLabel else {
            throw ValidationError("the label \(self.label) is for tokens of tumbler login-link; choose another")
        }
    }

    func run() async throws {
        let settings = try self.service.layers()
        let store = try LocalServiceOptions.store(settings.configuration, for: .adding)
        let time = self.time.time
        let owner = self.owner ?? OperatingUser.name(ProcessInfo.processInfo.environment)
        let end = self.expires.map { Timestamp(secondsSince1970: time.secondsSince1970 + $0) }
        var generator = SystemRandomNumberGenerator()
        let random = (0..<AccessToken.randomBytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let made = AccessToken.make(
            self.scope, names: self.names, label: self.label, owner: owner, endsAt: end, random: random, at: time)
        guard let made else { throw CommandError(.undecided, "no token could be made") }
        try await store.write { try $0.create(made.token, by: "cli") }
        for name in self.names where !settings.names.contains(name) {
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
        commandName: "list", abstract: "List the tokens, revoked ones included.")

    @Flag(help: "Print them as JSON.")
    var json = false

    @OptionGroup var service: LocalServiceOptions

    func run() async throws {
        struct Shown: Encodable {
            let id: String
            let scope: String
            let names: [String]
            let label: String
            let owner: String
            let madeAt: String
            let endsAt: String?
            let revokedAt: String?
        }
        let store = try LocalServiceOptions.store(try self.service.layers().configuration, for: .reading)
        let tokens = try await store.read { try $0.tokens() }.map { token in
            Shown(
                id: token.id, scope: token.scope.rawValue, names: token.names, label: token.label,
                owner: token.owner, madeAt: token.madeAt.description, endsAt: token.endsAt?.description,
                revokedAt: token.revokedAt?.description)
        }
        if self.json { return try JSONOutput.write(tokens) }
        try StandardOutput.write(
            lines: tokens.map { token in
                let names = token.names.isEmpty ? "all names" : token.names.joined(separator: ",")
                return "\(token.id)  \(token.scope)  \(names)  made \(token.madeAt)"
                    + (token.label.isEmpty ? "" : "  label \(token.label)")
                    + (token.owner.isEmpty ? "" : "  owner \(token.owner)")
                    + (token.endsAt.map { "  ends \($0)" } ?? "")
                    + (token.revokedAt.map { "  revoked \($0)" } ?? "")
            })
    }
}

struct TokenRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke a token, from now on.")

    @Argument(help: "The id, as tumbler token list shows it.")
    var id: String

    @Flag(
        help: ArgumentHelp(
            "Forget the certificates of logs that it told.",
            discussion: """
                Those that apps accept stay, and those that a person acknowledged. It may be said of a token that was \
                revoked before. What a monitor found with the same token has to be handed in once more.
                """))
    var forgetSightings = false

    @OptionGroup var service: LocalServiceOptions
    @OptionGroup var time: TimeOption

    func run() async throws {
        let store = try LocalServiceOptions.store(try self.service.layers().configuration, for: .adding)
        let (id, time) = (self.id, self.time.time)
        let isRevoked = try await store.write { store in
            guard try store.revokeToken(id: id, at: time) else { return false }
            try store.log("token-revoke", id, by: "cli", at: time)
            return true
        }
        let forgotten = try await self.forgetSightings ? store.forgetSightings(toldBy: id, by: "cli", at: time) : 0
        guard isRevoked || forgotten > 0 else {
            throw CommandError(
                .doesNotHold,
                "there is no valid token \(id)" + (self.forgetSightings ? ", and nothing to forget of it" : ""),
                hint: "tumbler token list")
        }
        try StandardOutput.write(
            lines: (isRevoked ? ["revoked \(id)"] : [])
                + (self.forgetSightings ? ["forgot \(forgotten) certificates that it told"] : []))
    }
}
