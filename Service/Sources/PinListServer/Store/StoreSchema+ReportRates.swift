// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension StoreSchema {
    /// How many installations report failures of a host since when: a row when a published list changes the number.
    static func reportRates(_ dialect: Dialect) -> [String] {
        [
            """
            CREATE TABLE report_rate (
                host TEXT NOT NULL, name TEXT NOT NULL, since \(dialect.integer) NOT NULL,
                per_million \(dialect.integer) NOT NULL, PRIMARY KEY (host, name, since))\(dialect.ordered)
            """
        ]
    }
}
