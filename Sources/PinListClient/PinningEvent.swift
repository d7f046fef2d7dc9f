// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata

/// An event for those who run an app.
public struct PinningEvent: Hashable, Sendable, CustomStringConvertible {
    /// The kind of event. Bounded, so it may label a metric.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The code, lower case with hyphens.
        public let description: String

        /// An event of an adapter. Those of the client have a name below.
        public init(code: String) { self.description = code }

        /// A newer list is in force.
        public static let listAccepted = Kind(code: "list-accepted")
        /// A new root is trusted.
        public static let rootAccepted = Kind(code: "root-accepted")
        /// A list or a root from outside was refused; see ``PinningEvent/refusal``.
        public static let refused = Kind(code: "refused")
        /// A refresh failed for the network or the server.
        public static let refreshFailed = Kind(code: "refresh-failed")
        /// There were more new roots than one refresh accepts.
        public static let tooManyRoots = Kind(code: "too-many-roots")
        /// A root, a list or other state could not be stored. It is in force in this process, and storing is tried
        /// again.
        public static let storeFailed = Kind(code: "store-failed")
        /// A stored file is damaged and ignored.
        public static let stateDamaged = Kind(code: "state-damaged")
        /// A stored file cannot be read now. Nothing is written either, and reading is tried again.
        public static let stateUnreadable = Kind(code: "state-unreadable")
        /// A newer version of this library wrote the stored state: it is read, and not written.
        public static let stateNewer = Kind(code: "state-newer")
        /// The list in force is signed by earlier signers; a current one is awaited.
        public static let signerReplaced = Kind(code: "signer-replaced")
        /// The list in force has expired. By default it is still enforced: see ``PinningConfiguration/whenStale``.
        public static let stale = Kind(code: "stale")
        /// The shipped and the stored list have the same version and differ; the shipped one is in force.
        public static let conflictingLists = Kind(code: "conflicting-lists")
        /// The list has pins that this version cannot use: they match nothing.
        public static let unusablePins = Kind(code: "unusable-pins")
        /// The rules that the app makes in code have an address for reports that is not `https`: none is sent there.
        public static let unusableAddress = Kind(code: "unusable-address")
        /// Entries ask for a mode or a policy of Certificate Transparency that this version does not know: it does not
        /// evaluate them.
        public static let unknownTransparency = Kind(code: "unknown-transparency")
        /// The list names a log list that is not there yet, and the one that was in force stays so. Or its entries ask
        /// for a policy and it names none: then none is in force. Without one no policy is evaluated.
        public static let logsMissing = Kind(code: "logs-missing")
        /// The log list that the list names cannot be read, or another file came in its place. The log list that
        /// was in force stays so; without one no policy is evaluated.
        public static let logsUnreadable = Kind(code: "logs-unreadable")
        /// The log list in force is over 70 days old: no policy is evaluated.
        public static let logsStale = Kind(code: "logs-stale")
        /// Pins are evaluated, and ``Pinning/run()`` was never called: lists are not refreshed. That it ended sends nothing.
        public static let notRunning = Kind(code: "not-running")
        /// A connection was refused, or would have been; see ``PinningEvent/decision``.
        public static let validationFailed = Kind(code: "validation-failed")
        /// A connection was allowed because pinning is suspended or its entry has expired; see
        /// ``PinningEvent/decision``.
        public static let notEnforced = Kind(code: "not-enforced")

        /// A debug build let a connection through because its path ends at a developer's own anchor.
        public static let developerAnchor = Kind(code: "developer-anchor")

        /// Whether a person should look.
        var isTrouble: Bool { self != .listAccepted && self != .rootAccepted }
    }

    /// The kind of event.
    public let kind: Kind
    /// The time, by the client's clock.
    public let time: Timestamp
    /// The explanation, in one sentence without a full stop.
    public let detail: String
    /// The decision that caused the event.
    public var decision: PinningDecision?
    /// The refusal that caused the event.
    public var refusal: MetadataError?

    /// Creates an event.
    public init(_ kind: Kind, at time: Timestamp, _ detail: String) {
        self.kind = kind
        self.time = time
        self.detail = detail
    }

    /// The kind and the detail.
    public var description: String { "\(self.kind): \(self.detail)" }
}
