// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension StoreSchema {
    /// What the third migration adds so that counts are forgotten without walking through all of them: their keys begin with
    /// something else than a time. A count that grows does not touch these; a row that is new does, once.
    static func retention(_ dialect: Dialect) -> [String] {
        [
            "CREATE INDEX inquiry_by_hour ON inquiry (hour)",
            "CREATE INDEX group_hour_by_hour ON group_hour (hour)",
            "CREATE INDEX group_network_by_day ON group_network (day)",
        ]
    }
}
