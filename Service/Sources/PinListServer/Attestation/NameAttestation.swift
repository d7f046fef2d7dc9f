// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import AppAttestation

/// The attestation that one name asks of senders of reports (formats.md, section 10).
package struct NameAttestation: Hashable, Sendable {
    /// The maximum number of app ids of a name: an attestation of a stranger may be verified once for each.
    package static let maximumAppIDs = 8

    /// The apps: `TEAMID.bundle.id` each.
    package var appIDs: [String]
    /// The environment of their keys.
    package var environment: AttestationEnvironment
    /// Whether Apple's receipts are kept.
    package var keepsReceipts = false
    /// The root that attestations end in, in DER: Apple's, but in tests.
    package var root = AppleRoot.appAttestation

    /// States what is asked.
    package init(appIDs: [String], environment: AttestationEnvironment = .production) {
        self.appIDs = appIDs
        self.environment = environment
    }
}
