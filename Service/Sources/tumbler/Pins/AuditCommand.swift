// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `tumbler audit`: hands over to `tumbler-audit`, a package of its own.
struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "What in this app talks past its pins?",
        discussion: "Runs tumbler-audit, beside this program or on the PATH, with these arguments.",
        // Its own --help says more.
        helpNames: []
    )

    @Argument(parsing: .captureForPassthrough, help: "What tumbler-audit takes.")
    var arguments: [String] = []

    /// Hands over what follows its name. What stands before that is `--color`, which has no value like it.
    func run() {
        let name = CommandLine.arguments.dropFirst().firstIndex(of: "audit")
        CompanionProgram.audit.takesOver(from: name ?? 1)
    }
}
