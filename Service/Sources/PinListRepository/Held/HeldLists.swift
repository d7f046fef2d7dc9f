// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata
internal import PinRotation

/// The lists that installations may still hold.
///
/// Installations cannot be asked. Either a service counted what they say when they request a newer list, or it is
/// assumed that all have the newest list once `propagation` has passed: then these are the lists that were the newest
/// at any moment of that time.
public struct HeldLists: Sendable {
    /// The source of the knowledge of held lists.
    public enum Basis: Hashable, Sendable {
        /// Requests of installations that were counted over a time, in seconds.
        case measured(requests: Int64, period: Int64)
        /// The seconds of `propagation`, and why adoption is not measured.
        case propagation(Int64, why: String)
    }

    /// A list that installations may hold.
    public struct Held: Sendable {
        /// The list.
        public let list: PinList

        /// The time at which a newer list went out; `nil` for the newest.
        public let until: Timestamp?

        /// The number of counted requests that named it; `nil` where nothing was counted.
        public let requests: Int64?

        /// The share of the counted requests that named it; `nil` where nothing was counted.
        public let share: Double?

        /// States a list that was the newest until a time.
        init(_ list: PinList, until: Timestamp?) {
            self.list = list
            self.until = until
            (self.requests, self.share) = (nil, nil)
        }

        /// States a list that so many of all requests named.
        init(_ list: PinList, requests: Int64, of all: Int64) {
            self.list = list
            self.until = nil
            self.requests = requests
            self.share = Double(requests) / Double(max(all, 1))
        }
    }

    /// The share up to which a measured list that refuses something is tolerated: that of the gate (1 in 100).
    public static let maximumRefusing = GateRules.usualMaxRefusing / 100

    /// The source of the knowledge.
    public let basis: Basis

    /// The lists, by version.
    public let lists: [Held]

    /// The share of the counted requests that named a list which is not here; nothing where nothing was counted.
    public let unknownShare: Double

    /// The lists that may be held as well and are not in `lists/`, in words.
    public let missing: [String]

    /// The log lists that they name.
    let logs: NamedLogs

    /// States lists.
    init(
        _ basis: Basis, _ lists: [Held], unknownShare: Double = 0, missing: [String] = [], logs: NamedLogs = NamedLogs()
    ) {
        self.basis = basis
        self.logs = logs
        self.lists = lists.sorted { $0.list.version < $1.list.version }
        self.unknownShare = unknownShare
        self.missing = missing
    }

    /// Whether installations were counted.
    public var isMeasured: Bool { if case .measured = self.basis { true } else { false } }

    /// The versions that enforce Certificate Transparency with a log list that is not at hand: what they refuse for it is
    /// not known.
    public var versionsWithoutLogs: [Int64] {
        self.lists.map(\.list).filter { list in
            guard case .missing = self.logs.logs(of: list) else { return false }
            return list.domains.contains { $0.entry.mode == .enforce && $0.entry.transparency?.mode == .enforce }
        }.map(\.version)
    }

    /// Their versions, each once.
    public var versions: [Int64] {
        self.lists.map(\.list.version).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    /// One line: what it is known from, and which lists they are.
    public var line: String {
        let lists = self.versions.isEmpty ? "no list yet" : ListVersions.text(of: self.versions)
        switch self.basis {
        case .measured(let requests, let period):
            let share = Share.percent(self.unknownShare)
            let unknown = self.unknownShare > 0 ? ", and \(share) hold lists that are not in lists/" : ""
            return "by measured adoption (\(requests) requests in \(SourceDuration.text(period))), installations hold "
                + "\(lists)\(unknown)"
        case .propagation(let seconds, let why):
            return "by propagation (\(SourceDuration.text(seconds))), not by measured adoption (\(why)), installations "
                + "may hold \(lists)"
        }
    }
}
