// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning

/// The observations of the operator's own probe at a host, beside what reports claim. Unlike reports it comes with a
/// token, so it says more than any name in a certificate.
package struct ProbedKeys: Hashable, Sendable {
    /// The time at which the host was asked.
    package let at: Timestamp
    /// Whether the host presented a leaf that is reported.
    package let hasLeaf: Bool
    /// Whether the leaf was issued by the key that issued those which are reported.
    package let hasIssuer: Bool

    /// States what was seen.
    package init(at: Timestamp, hasLeaf: Bool, hasIssuer: Bool) {
        self.at = at
        self.hasLeaf = hasLeaf
        self.hasIssuer = hasIssuer
    }
}
