// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
package import PinReportAnalysis

extension ServiceStore {
    /// An empty log, to be read.
    package func edgeLog() async throws -> EdgeLog {
        try await self.read { store in
            var versions: [String: [String: Int64]] = [:]
            for name in try store.names() { versions[name] = try store.publishedDigests(of: name) }
            return EdgeLog(versions: versions)
        }
    }

    /// Adds what a log says, once.
    ///
    /// - Parameters:
    ///   - log: The log that was read.
    ///   - digest: The hex SHA-256 of the file: the same file is not added twice.
    ///   - name: The name of the file, for the audit log.
    /// - Returns: Whether it was added; `false` for a file that was added before.
    package func add(_ log: EdgeLog, digest: String, named name: String, at time: Timestamp) async throws -> Bool {
        try await self.write { store in
            let earlier = try store.auditEntries(of: ["adoption-import"], since: Timestamp(secondsSince1970: 0))
            guard earlier.allSatisfy({ !$0.detail.hasSuffix(digest) }) else { return false }
            try store.add(log.counts)
            try store.log("adoption-import", "\(name): \(log.counted) requests, \(digest)", by: "cli", at: time)
            return true
        }
    }
}
