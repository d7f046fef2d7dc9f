// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A command of `tumbler-service`. It is typed behind `tumbler`, too, which hands it over.
package enum ServiceCommand: String, CaseIterable, Sendable {
    case serve
    case token
    case loginLink = "login-link"
    case auditLog = "audit-log"
    case backup
    case adoption
    case moveDatabase = "move-database"

    /// The abstract of the command, as both programs list it.
    package var abstract: String {
        switch self {
        case .serve: "Serve lists, take failure reports, show what happens and warn."
        case .token: "Make, list and revoke the tokens of the service."
        case .loginLink: "Print a link that logs a browser in to the dashboard, once."
        case .auditLog: "Verify or show the log of all that was changed."
        case .backup: "Copy the service's database into a new file, while it is in use."
        case .adoption: "Feed in the clients' requests from the log of a cache."
        case .moveDatabase: "Copy all of the service's database into another one that is empty."
        }
    }

    /// The command that arguments name: the first word, or the word behind `help`.
    ///
    /// - Parameter arguments: The arguments of the process, the program first.
    package static func named(in arguments: [String]) -> ServiceCommand? {
        let words = arguments.dropFirst()
        return (words.first == "help" ? words.dropFirst() : words).first.flatMap(ServiceCommand.init)
    }
}
