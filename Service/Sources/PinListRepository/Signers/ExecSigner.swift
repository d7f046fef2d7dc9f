// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A program that signs: the way to everything that speaks no PKCS #11.
///
/// It is run by `/bin/sh -c`. Its standard input are the bytes to sign, its standard output is the signature: the raw
/// bytes of the key's algorithm, or, for P-256, DER. What it says on standard error is passed on.
///
/// Source: formats.md, section 8.
public struct ExecSigner: MetadataSigner {
    /// The maximum time in seconds that a program may take: a person may have to touch a token (formats.md, section 8).
    public static let maximumSeconds = 60.0

    /// The maximum number of bytes of its answer: a signature has 64, or up to 72 in DER, and 3,309 of ML-DSA-65.
    public static let maximumAnswerBytes = 4_096

    /// `exec:` and the command.
    public var name: String { "exec:\(self.command)" }

    private let command: String
    private let seconds: Double
    private let diagnostics: @Sendable (String) -> Void

    /// Names a program.
    ///
    /// - Parameters:
    ///   - command: A line of shell.
    ///   - seconds: The most seconds that it may take; then it is ended, with all processes that it started.
    ///   - diagnostics: Takes what it said on standard error, line by line.
    public init(
        _ command: String, maximumSeconds seconds: Double = Self.maximumSeconds,
        diagnostics: @escaping @Sendable (String) -> Void
    ) {
        self.command = command
        self.seconds = seconds
        self.diagnostics = diagnostics
    }

    /// Runs the program once.
    ///
    /// - Throws: ``RepositoryError`` with what to do.
    public func signature(over message: [UInt8]) async throws(RepositoryError) -> [UInt8] {
        let program = ShellCommand(
            self.command, maximumSeconds: self.seconds, maximumOutputBytes: Self.maximumAnswerBytes)
        // The program has its own limit; twice as long and more means that even ending it did not work.
        let answer = await BlockingCall.answer(within: 2 * self.seconds + 5) { () throws(RepositoryError) in
            try program.run(input: message)
        }
        guard let ended = try answer?.get() else {
            throw RepositoryError(.signer, "\(self.name) does not answer and cannot be ended")
        }
        for line in ended.errors.split(separator: "\n") { self.diagnostics(String(line)) }
        switch ended.end {
        case .exit(0) where !ended.output.isEmpty: return ended.output
        case .exit(0): throw RepositoryError(.signer, "\(self.name) printed no signature")
        case .exit(let code): throw RepositoryError(.signer, "\(self.name) ended with exit code \(code)")
        case .signal(let number): throw RepositoryError(.signer, "\(self.name) was ended by signal \(number)")
        case .tookTooLong:
            throw RepositoryError(
                .signer, "\(self.name) took longer than \(self.seconds.formattedSeconds) seconds and was ended")
        case .saidTooMuch:
            throw RepositoryError(
                .signer, "\(self.name) printed more than \(Self.maximumAnswerBytes) bytes and was ended",
                hint: "standard output is for the signature alone: raw bytes, or DER for P-256")
        }
    }
}

extension Double {
    /// `60`, `0.5`.
    var formattedSeconds: String { "\(self)".hasSuffix(".0") ? String("\(self)".dropLast(2)) : "\(self)" }
}
