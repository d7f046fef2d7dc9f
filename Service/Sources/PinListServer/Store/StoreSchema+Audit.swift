// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension StoreSchema {
    /// What the third migration changes of the audit log and evidence: entries of a sealed period can be removed.
    static func audit(_ dialect: Dialect) -> [String] {
        [
            """
            CREATE TABLE audit_seal (
                period TEXT PRIMARY KEY, first_number \(dialect.integer) NOT NULL,
                last_number \(dialect.integer) NOT NULL, head TEXT NOT NULL, previous TEXT NOT NULL,
                entry \(dialect.integer) NOT NULL)
            """,
            "CREATE INDEX evidence_by_name ON evidence (name, at)",
        ] + dialect.removableAudit
    }

    /// Whether a row of `audit` may be deleted, for a trigger: a seal covers it, and the newest seal, which vouches for all
    /// of them, is named in the log.
    static let isSealed = """
        EXISTS (SELECT 1 FROM audit_seal WHERE OLD.number BETWEEN first_number AND last_number)
            AND EXISTS (
                SELECT 1 FROM audit
                    WHERE number = (SELECT MAX(entry) FROM audit_seal) AND action = 'seal' AND number > OLD.number)
        """
}
