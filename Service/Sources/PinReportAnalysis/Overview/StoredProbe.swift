// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning

/// The last result of a probe of a host.
package struct StoredProbe: Hashable, Sendable {
    /// The list.
    package let name: String
    /// The host.
    package let host: String
    /// The time at which it was asked.
    package let at: Timestamp
    /// Whether all was well.
    package let isOK: Bool
    /// The result: the object of `tumbler probe --json`.
    package let result: [UInt8]
    /// The later probe that did not reach the host, and why; `nil` when the last one did.
    package var miss: Miss?

    /// The time of the last attempt, whether it reached the host or not.
    package var lastAttempt: Timestamp { max(self.at, self.miss?.at ?? self.at) }

    /// A probe that did not reach a host.
    package struct Miss: Hashable, Sendable {
        /// The time of the attempt.
        package let at: Timestamp
        /// The reason, in words.
        package let why: String

        /// States a miss.
        package init(at: Timestamp, why: String) {
            self.at = at
            self.why = why
        }
    }

    /// States a result.
    package init(name: String, host: String, at: Timestamp, isOK: Bool, result: [UInt8]) {
        self.name = name
        self.host = host
        self.at = at
        self.isOK = isOK
        self.result = result
    }
}

extension ProbedKeys {
    /// Compares what a probe found with what is reported; `nil` when it found no path.
    package init?(_ probe: StoredProbe, leaves: Set<String>, issuer: Pin?) {
        let path = ProbeFacts(probe.result).path
        guard let leaf = path.first else { return nil }
        self.init(
            at: probe.at, hasLeaf: leaves.contains(leaf.pin),
            hasIssuer: issuer.map { path.dropFirst().first?.pin == $0.description } ?? false)
    }
}
