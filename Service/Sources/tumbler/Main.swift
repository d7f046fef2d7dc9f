// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CommandLineInterface
@_spi(Tools) import PinningNIO

/// The program of publishers and app developers. The service's commands are handed over before anything is parsed: what
/// was typed reaches the other program byte for byte.
@main
enum Main {
    static func main() {
        if ServiceCommand.named(in: CommandLine.arguments) != nil { CompanionProgram.service.takesOver() }
        CommandLineProgram.main(Tumbler.self) { error in
            guard let problem = NetworkProblem.known(error) else { return nil }
            return CommandError(.undecided, problem.description, hint: problem.hint)
        }
    }
}
