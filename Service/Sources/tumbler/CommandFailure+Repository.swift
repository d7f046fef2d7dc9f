// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import PinListRepository

extension CommandFailure {
    /// What the publisher's half refused, with the exit code of its kind.
    init(_ error: RepositoryError) {
        let exit: CommandExit =
            switch error.code {
            case .usage: .usage
            case .source, .metadata: .doesNotHold
            default: .undecided
            }
        self.init(exit, error.reason, hint: error.hint)
    }

    /// Runs something of the publisher's half.
    static func wrapping<Value>(_ body: () throws(RepositoryError) -> Value) throws(CommandFailure) -> Value {
        do { return try body() } catch { throw CommandFailure(error) }
    }

    /// Runs something of the publisher's half that takes its time.
    static func wrapping<Value>(
        _ body: () async throws(RepositoryError) -> Value
    ) async throws(CommandFailure) -> Value {
        do { return try await body() } catch { throw CommandFailure(error) }
    }
}
