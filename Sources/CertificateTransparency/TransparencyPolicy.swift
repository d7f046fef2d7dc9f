// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// A policy of Certificate Transparency: the demands on a certificate's timestamps. A name means its rules for ever:
/// changed rules get another name.
public struct TransparencyPolicy: Hashable, Sendable, CustomStringConvertible {
    /// A day of a policy, in seconds.
    static let day: Int64 = 86_400

    /// The maximum lifetime for which fewer timestamps suffice, in seconds: 180 days.
    static let shortLifetime: Int64 = 180 * TransparencyPolicy.day

    /// The demand for certificates of one range of lifetimes.
    struct Demand: Hashable, Sendable {
        /// The number of logs.
        let logs: Int
        /// The maximum number of logs of one operator that count.
        let logsOfAnOperator: Int
    }

    /// The name in formats and on the command line.
    public let name: String

    /// The address of the published rules.
    public let source: String

    /// The date of the rules that are implemented here.
    public let date: String

    /// The demand for lifetimes up to ``shortLifetime``.
    let short: Demand

    /// The demand for longer lifetimes.
    let long: Demand

    /// The number of operators.
    let operators: Int

    /// The maximum lifetime that can satisfy it, in days.
    let maximumDays: Int64?

    /// Whether at least one log must not be a tiled log.
    let asksForRFC6962: Bool

    /// Chrome's, of November 2026: two logs up to 180 days and three beyond, of two operators, one of them accepted now.
    public static let chrome = TransparencyPolicy(
        name: "chrome", source: "https://googlechrome.github.io/CertificateTransparency/ct_policy.html",
        date: "2026-11-22", short: Demand(logs: 2, logsOfAnOperator: .max),
        long: Demand(logs: 3, logsOfAnOperator: .max), operators: 2, maximumDays: nil, asksForRFC6962: false)

    /// Apple's, of November 2026: two logs up to 180 days, each of another operator, and three up to 398, at most two of
    /// each; one of them accepted now, and one that is not a tiled log.
    public static let apple = TransparencyPolicy(
        name: "apple", source: "https://support.apple.com/103214", date: "2026-11-22",
        short: Demand(logs: 2, logsOfAnOperator: 1), long: Demand(logs: 3, logsOfAnOperator: 2), operators: 1,
        maximumDays: 398, asksForRFC6962: true)

    /// All policies.
    public static let all = [TransparencyPolicy.chrome, .apple]

    /// The policy with a name, or `nil`.
    public init?(named name: String) {
        guard let policy = Self.all.first(where: { $0.name == name }) else { return nil }
        self = policy
    }

    /// The policy that an entry demands.
    public init(_ policy: TransparencyRule.Policy) {
        switch policy {
        case .chrome: self = .chrome
        case .apple: self = .apple
        }
    }

    /// The name.
    public var description: String { self.name }

    private init(
        name: String, source: String, date: String, short: Demand, long: Demand, operators: Int, maximumDays: Int64?,
        asksForRFC6962: Bool
    ) {
        self.name = name
        self.source = source
        self.date = date
        self.short = short
        self.long = long
        self.operators = operators
        self.maximumDays = maximumDays
        self.asksForRFC6962 = asksForRFC6962
    }
}
