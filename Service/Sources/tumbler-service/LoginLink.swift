// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation
import PinListServer
import PinListStore

/// A link that logs a browser in to the dashboard, once (formats.md, section 7).
struct LoginLink {
    /// The secret in it.
    private let code: String

    /// Makes a link that can be used for ten minutes.
    ///
    /// - Parameters:
    ///   - store: The service's database.
    ///   - owner: The owner of the log-in.
    ///   - actor: The name of its maker in the audit log: `cli`, or `serve`.
    ///   - time: Now.
    /// - Throws: ``CommandError``, and what the store says.
    static func make(
        in store: any ServiceStore, owner: String, by actor: String, at time: Timestamp
    ) async throws -> LoginLink {
        var generator = SystemRandomNumberGenerator()
        let random = (0..<LoginCode.randomBytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        guard let made = LoginCode.make(owner: owner, random: random, at: time) else {
            throw CommandError(.undecided, "no link could be made")
        }
        try await store.write { try $0.add(made.code, by: actor, at: time) }
        return LoginLink(code: made.text)
    }

    /// The text of the link, for a service at an address. Of one that listens on all interfaces it leads to the
    /// loopback one.
    func text(at address: String) -> String {
        LoginCode.link(
            to: address.replacing("://0.0.0.0:", with: "://127.0.0.1:").replacing("://[::]:", with: "://[::1]:"),
            self.code)
    }
}

/// The user who types the command.
enum OperatingUser {
    /// The name of the user on this machine, for owners of tokens; under `sudo` who called it, because the service's own
    /// user says nothing. A name that a token cannot have is left out.
    static func name(_ environment: [String: String]) -> String {
        let names = [environment["SUDO_USER"] ?? "", NSUserName()]
        return names.first { !$0.isEmpty && AccessToken.isText($0) } ?? ""
    }
}
