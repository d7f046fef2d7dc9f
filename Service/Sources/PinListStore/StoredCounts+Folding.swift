// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension StoreTransaction {
    /// The number of hours that one run folds: several runs come by each hour.
    private static var foldedHours: Int64 { 3 }

    /// Adds up what instances counted, each for itself, of hours and groups that they do not add to any more. An instance
    /// has another name each time that it starts, and rows of all names that there were would stay.
    ///
    /// What is deleted is what is added, row by row: an instance that adds to an old hour meanwhile loses nothing. A row that
    /// it holds stays until a later run.
    ///
    /// - Parameter hour: The first hour that may still be added to.
    package func foldCounts(before hour: Int64) throws {
        let hours: [SQLValue] = [.integer(hour - Self.foldedHours), .integer(hour)]
        let end = SQLValue.integer(hour * 3_600)
        // A batch that removes a group would not see the sum that is added here, and leave it without a group. Before anything
        // is changed: a batch that has a group already waits for nothing of this one then.
        _ = try self.connection.rows(
            """
            SELECT number FROM report_group
            WHERE number IN (SELECT group_number FROM group_count WHERE instance <> '' AND last_at < ?)\
            \(self.connection.rowLocks.shared)
            """, [end])
        try self.fold(Self.groupHours, where: "\(Self.ofGroups) AND hour >= ? AND hour < ?", hours)
        try self.fold(Self.hours, where: "hour >= ? AND hour < ?", hours)
        try self.fold(Self.groupCounts, where: "last_at < ?", [end])
        for name in try self.names() {
            let hoursOfName = [.text(name)] + hours
            try self.fold(Self.listRequests, where: "name = ? AND hour >= ? AND hour < ?", hoursOfName)
            try self.fold(Self.attestationHours, where: "name = ? AND hour >= ? AND hour < ?", hoursOfName)
        }
    }

    /// Group by group, because the groups are few and the hours are many.
    static var ofGroups: String { "group_number IN (SELECT number FROM report_group)" }

    private func fold(_ insertion: SQLInsertion, where condition: String, _ values: [SQLValue]) throws {
        guard let instance = insertion.columns.firstIndex(of: "instance") else { return }
        let columns = insertion.columns.joined(separator: ", ")
        let free = self.connection.free(of: insertion.table, where: "instance <> '' AND \(condition)")
        for row in try self.connection.rows(
            "DELETE FROM \(insertion.table) WHERE \(free) RETURNING \(columns)", values)
        {
            var folded = row.values
            folded[instance] = .text("")
            try self.connection.execute(insertion.single.sql, folded)
        }
    }
}
