// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// Payloads that were looked at with valid signatures, so that a report with one of them costs no signature check.
///
/// It holds what our signers signed alone: a stranger adds nothing to it, and pushes nothing out of it.
struct KnownPayloads: Sendable {
    /// The most digests of each of the two halves, of which the older is dropped when the newer is full: 64 days of evidence
    /// at the most a day.
    static let most = 1_024

    private var newer: [String: Timestamp] = [:]
    private var older: [String: Timestamp] = [:]

    /// Whether a payload needs no look at a time.
    func contains(_ digest: String, at now: Timestamp) -> Bool {
        (self.newer[digest] ?? self.older[digest]).map { now < $0 } ?? false
    }

    /// Remembers a payload.
    ///
    /// - Parameter end: From when on it is looked at again.
    mutating func insert(_ digest: String, until end: Timestamp) {
        if self.newer.count >= Self.most {
            self.older = self.newer
            self.newer = [:]
        }
        self.newer[digest] = end
    }
}
