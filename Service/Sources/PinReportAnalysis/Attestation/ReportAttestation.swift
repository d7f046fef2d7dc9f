// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The attestation of the sender of a report (formats.md, section 7).
package enum AttestationState: String, Hashable, Sendable, CaseIterable {
    /// A registered key of an unmodified copy of the app made an assertion over its bytes.
    case attested
    /// The report lacks a good assertion, and its list asks for one.
    case unattested
    /// No list that it is about asks for an assertion.
    case notAsked = "not asked"
}

/// The attestation that a report is stored with: its state, and what an attested one uses up.
package struct ReportAttestation: Sendable {
    /// The state.
    package let state: AttestationState
    /// The list that asks for an assertion; empty where none does.
    package let name: String
    /// The first step of the assertion that failed; `nil` where none did, or the assertion cannot be read.
    package let step: Int?
    /// The challenge and counter that are used up when it is stored; `nil` for all that are not attested.
    package let use: AssertionUse?

    /// No list asks.
    package static let notAsked = ReportAttestation(.notAsked, of: "")

    /// States what is known.
    package init(_ state: AttestationState, of name: String, step: Int? = nil, use: AssertionUse? = nil) {
        self.state = state
        self.name = name
        self.step = step
        self.use = use
    }
}

/// An assertion that was verified and waits for its counter to be stored. All reports of one body share one: a class, so
/// that two bodies with the same assertion are two.
package final class AssertionUse: Sendable {
    /// The key id, 32 bytes.
    package let keyID: [UInt8]
    /// The counter that is stored in place of a smaller one.
    package let counter: UInt32
    /// A keyed hash of the network that it came from; empty where that is not known.
    package let network: [UInt8]

    package init(keyID: [UInt8], counter: UInt32, network: [UInt8]) {
        (self.keyID, self.counter, self.network) = (keyID, counter, network)
    }
}
