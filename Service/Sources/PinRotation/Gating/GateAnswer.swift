// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// What the gate says of a certificate or a key for a host (formats.md, section 8).
public struct GateAnswer: Hashable, Sendable {
    /// A pin that matched, as the entry has it.
    public struct Match: Hashable, Sendable {
        /// The pin.
        public let pin: Pin
        /// Where in the path the entry expects it.
        public let position: KnownPin.Position

        /// States a match.
        public init(_ pin: Pin, _ position: KnownPin.Position) {
            self.pin = pin
            self.position = position
        }
    }

    /// The host that would present it.
    public let host: HostName
    /// The domain of the newest list's entry that applies; `nil` when none does.
    public let notedHostname: HostName?
    /// Whether it may be deployed.
    public let verdict: GateVerdict
    /// The pin of the newest list that matches; `nil` when none does.
    public let matched: Match?
    /// What share of the installations would refuse it.
    public let refusing: GateRefusing
    /// Why, in one line without a full stop.
    public let reason: String

    /// States an answer.
    public init(
        host: HostName, notedHostname: HostName?, verdict: GateVerdict, matched: Match?, refusing: GateRefusing,
        reason: String
    ) {
        self.host = host
        self.notedHostname = notedHostname
        self.verdict = verdict
        self.matched = matched
        self.refusing = refusing
        self.reason = reason
    }
}
