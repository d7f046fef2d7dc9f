// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import AppAttestation
package import CertificatePinning
internal import Crypto
package import PinReportAnalysis

/// A key of an installation, as it is stored.
package struct StoredAttestedKey: Hashable, Sendable {
    /// The key id, 32 bytes.
    package let keyID: [UInt8]
    /// The list that it was registered for.
    package let name: String
    /// The public key as an uncompressed point, 65 bytes.
    package let publicKey: [UInt8]
    /// The counter of the newest assertion; 0 before the first.
    package var counter: UInt32 = 0
    /// The environment of the key.
    package let environment: String
    /// The app: `TEAMID.bundle.id`.
    package let appID: String
    /// The launch category and the version of the app that its attestation named.
    package var category: UInt32?
    package var bundleVersion: String?
    /// The SHA-256 of its attestation.
    package let digest: [UInt8]
    /// Apple's receipt, where receipts are kept.
    package var receipt: [UInt8]?

    /// States a key.
    package init(
        keyID: [UInt8], name: String, publicKey: [UInt8], counter: UInt32 = 0, environment: String, appID: String,
        category: UInt32? = nil, bundleVersion: String? = nil, digest: [UInt8], receipt: [UInt8]? = nil
    ) {
        (self.keyID, self.name, self.publicKey, self.counter) = (keyID, name, publicKey, counter)
        (self.environment, self.appID, self.category) = (environment, appID, category)
        (self.bundleVersion, self.digest, self.receipt) = (bundleVersion, digest, receipt)
    }

    /// The key that an assertion is verified against.
    package var known: KnownKey? {
        AttestedKey(x963: self.publicKey).map {
            KnownKey(
                $0, counter: self.counter, namesCategory: self.category != nil,
                namesBundleVersion: self.bundleVersion != nil)
        }
    }
}

extension StoreTransaction {
    /// A key by its id.
    package func attestedKey(_ id: [UInt8]) throws -> StoredAttestedKey? {
        let row = try self.connection.rows(
            """
            SELECT name, public_key, counter, environment, app_id, category, bundle_version, digest
            FROM attested_key WHERE key_id = ?
            """, [.blob(id)]
        ).first
        guard let row, let counter = UInt32(exactly: try row.integer(2)) else { return nil }
        return StoredAttestedKey(
            keyID: id, name: try row.text(0), publicKey: try row.blob(1), counter: counter,
            environment: try row.text(3),
            appID: try row.text(4), category: try row.optionalInteger(5).flatMap { UInt32(exactly: $0) },
            bundleVersion: try row.optionalText(6), digest: try row.blob(7))
    }

    /// Registers a key, once over all instances: in one statement.
    ///
    /// - Returns: Whether it was not there yet.
    package func register(_ key: StoredAttestedKey, at now: Timestamp) throws -> Bool {
        try self.connection.execute(
            """
            INSERT INTO attested_key (key_id, name, public_key, counter, environment, app_id, category, bundle_version,
                digest, first_at, last_at, receipt)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key_id) DO NOTHING
            """,
            [
                .blob(key.keyID), .text(key.name), .blob(key.publicKey), .integer(Int64(key.counter)),
                .text(key.environment), .text(key.appID), .optional(key.category.map { Int64($0) }),
                .optional(key.bundleVersion), .blob(key.digest), .integer(now.secondsSince1970),
                .integer(now.secondsSince1970), key.receipt.map { .blob($0) } ?? .null,
            ]) == 1
    }

    /// Stores the counter of an assertion, if it is greater than the stored one: in one statement, so that of two assertions
    /// with one counter one is taken, whichever instances they came to.
    ///
    /// - Returns: Whether it was greater.
    package func use(_ assertion: AssertionUse, at now: Timestamp) throws -> Bool {
        let counter = SQLValue.integer(Int64(assertion.counter))
        return try self.connection.execute(
            "UPDATE attested_key SET counter = ?, last_at = ? WHERE key_id = ? AND counter < ?",
            [counter, .integer(now.secondsSince1970), .blob(assertion.keyID), counter]) == 1
    }

    /// Uses up the assertions of reports. A report whose assertion was used before is unattested from here on.
    ///
    /// - Throws: ``ReportsMustWait`` where another instance is using one of the keys: which of two assertions with one counter
    ///   is taken is known when that has ended.
    package func withUsedAssertions(_ reports: [AcceptedReport]) throws -> [AcceptedReport] {
        var uses: [ObjectIdentifier: (use: AssertionUse, at: Timestamp)] = [:]
        for report in reports {
            if let use = report.attestation.use { uses[ObjectIdentifier(use)] = (use, report.receivedAt) }
        }
        guard !uses.isEmpty else { return reports }
        let held = try self.heldKeys(among: Set(uses.values.map(\.use.keyID)))
        guard held.isEmpty else {
            throw ReportsMustWait(among: reports) { $0.attestation.use.map { held.contains($0.keyID) } ?? false }
        }
        let sorted = uses.values.sorted { left, right in
            left.use.keyID == right.use.keyID
                ? left.use.counter < right.use.counter : left.use.keyID.lexicographicallyPrecedes(right.use.keyID)
        }
        var stale: Set<ObjectIdentifier> = []
        for (use, time) in sorted where try !self.use(use, at: time) { stale.insert(ObjectIdentifier(use)) }
        return reports.map { report in
            guard let use = report.attestation.use, stale.contains(ObjectIdentifier(use)) else { return report }
            return report.unattested(5)
        }
    }

    /// The keys that another transaction is using. All others are this one's until it ends.
    private func heldKeys(among ids: Set<[UInt8]>) throws -> Set<[UInt8]> {
        let lock = self.connection.rowLocks.changed
        guard !lock.isEmpty else { return [] }
        func keys(_ ids: Set<[UInt8]>, _ lock: String) throws -> Set<[UInt8]> {
            Set(
                try self.connection.rows(
                    in: ids.sorted { $0.lexicographicallyPrecedes($1) }.map { .blob($0) },
                    { "SELECT key_id FROM attested_key WHERE key_id IN (\($0))\(lock)" }
                ).map { try $0.blob(0) })
        }
        // A key that is not there is no key that is used.
        return try keys(ids.subtracting(try keys(ids, lock)), "")
    }

    /// The secret of a day; `nil` where there is none.
    package func attestationSecret(of day: Int64) throws -> [UInt8]? {
        try self.connection.rows("SELECT secret FROM attestation_secret WHERE day = ?", [.integer(day)]).first?.blob(0)
    }

    /// The secret of a day, made where there is none yet. That of the day before stays; older ones go, but for those of the
    /// believed time.
    package func attestationSecret(of day: Int64, orNew secret: [UInt8]) throws -> [UInt8] {
        try self.connection.execute(
            "INSERT INTO attestation_secret (day, secret) VALUES (?, ?) ON CONFLICT (day) DO NOTHING",
            [.integer(day), .blob(secret)])
        let believed = try self.believedTime(by: Timestamp(secondsSince1970: day * 86_400)).hour / 24
        try self.connection.execute(
            "DELETE FROM attestation_secret WHERE day < ?", [.integer(min(day, believed) - 1)])
        guard let stored = try self.attestationSecret(of: day) else {
            throw StoreError(.damaged, "the secret of a day was removed while it was being stored")
        }
        return stored
    }

    /// Forgets keys that were not used for long.
    ///
    /// - Parameter limit: The maximum number of keys.
    /// - Returns: The number of keys.
    package func removeAttestedKeys(unusedSince cutoff: Timestamp, limit: Int) throws -> Int {
        try self.connection.removeFirst(limit, of: "attested_key", by: "last_at", before: cutoff.secondsSince1970)
    }

    /// Forgets counts older than a month is, sources that were heard hours ago, and secrets of days that are over.
    package func removeAttestations(at now: Timestamp) throws {
        try self.connection.execute(
            "DELETE FROM attestation_hour WHERE hour < ?", [.integer(now.hour - AttestationRate.month - 1)])
        try self.connection.execute("DELETE FROM attested_witness WHERE hour < ?", [.integer(now.hour - 1)])
        try self.connection.execute("DELETE FROM attestation_secret WHERE day < ?", [.integer(now.hour / 24 - 1)])
    }
}
