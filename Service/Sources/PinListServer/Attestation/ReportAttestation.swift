// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import AppAttestation

/// What is known of who sent a report (formats.md, section 7).
public enum AttestationState: String, Hashable, Sendable, CaseIterable {
    /// A registered key of an unmodified copy of the app made an assertion over its bytes.
    case attested
    /// It lacks a good assertion, and its list asks for one.
    case unattested
    /// No list that it is about asks for an assertion.
    case notAsked = "not asked"
}

/// What a report is stored with: its state, and what an attested one uses up.
struct ReportAttestation: Sendable {
    /// The state.
    let state: AttestationState
    /// The list that asks for an assertion; empty where none does.
    let name: String
    /// The first step of the assertion that failed; `nil` where none did, or the assertion cannot be read.
    let step: Int?
    /// What is used up when it is stored; `nil` for all that are not attested.
    let use: AssertionUse?

    /// No list asks.
    static let notAsked = ReportAttestation(.notAsked, of: "")

    /// States what is known.
    init(_ state: AttestationState, of name: String, step: Int? = nil, use: AssertionUse? = nil) {
        self.state = state
        self.name = name
        self.step = step
        self.use = use
    }
}

/// An assertion that was verified and waits for its counter to be stored. All reports of one body share one: a class, so
/// that two bodies with the same assertion are two.
final class AssertionUse: Sendable {
    /// The key id, 32 bytes.
    let keyID: [UInt8]
    /// The counter that is stored in place of a smaller one.
    let counter: UInt32
    /// A keyed hash of the network that it came from; empty where that is not known.
    let network: [UInt8]

    init(keyID: [UInt8], counter: UInt32, network: [UInt8]) {
        (self.keyID, self.counter, self.network) = (keyID, counter, network)
    }
}

/// What one name asks of those who send reports (formats.md, section 10).
public struct NameAttestation: Hashable, Sendable {
    /// The most app ids of a name: an attestation of a stranger may be verified once for each.
    public static let mostAppIDs = 8

    /// The apps: `TEAMID.bundle.id` each.
    public var appIDs: [String]
    /// Where their keys live.
    public var environment: AttestationEnvironment
    /// Whether Apple's receipts are kept.
    public var keepsReceipts = false
    /// The root that attestations end in, in DER: Apple's, but in tests.
    public var root = AppleRoot.appAttestation

    /// States what is asked.
    public init(appIDs: [String], environment: AttestationEnvironment = .production) {
        self.appIDs = appIDs
        self.environment = environment
    }
}
