// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension SQLConnection {
    /// Deletes the first rows of a table by the order of one column, which has an index: at most so many. So one statement
    /// never takes long, however many rows there are.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of rows.
    ///   - table: One of ``StoreMove/tables``, which say its key.
    ///   - column: The column: a time.
    ///   - end: The first value that stays.
    /// - Returns: The number of rows that were deleted.
    func removeFirst(_ limit: Int, of table: String, by column: String, before end: Int64) throws -> Int {
        let (limit, end) = (SQLValue.integer(Int64(limit)), SQLValue.integer(end))
        if self.rowPlace != nil {
            let oldest = self.free(of: table, where: "\(column) < ? ORDER BY \(column) LIMIT ?")
            return try self.execute("DELETE FROM \(table) WHERE \(oldest)", [end, limit])
        }
        // An index has the key behind its columns, so this is its order, and no row is read for it.
        let key = StoreMove.tables.first { $0.name == table }?.key ?? []
        let order = [column] + key.filter { $0 != column }
        let columns = order.joined(separator: ", ")
        let first = try self.rows(
            "SELECT \(columns) FROM \(table) WHERE \(column) < ? ORDER BY \(columns) LIMIT 1 OFFSET ?", [end, limit]
        ).first
        guard let first else { return try self.execute("DELETE FROM \(table) WHERE \(column) < ?", [end]) }
        let marks = order.map { _ in "?" }.joined(separator: ", ")
        return try self.execute("DELETE FROM \(table) WHERE (\(columns)) < (\(marks))", first.values)
    }

    /// The condition for the rows of a table that another condition finds, but for those that another transaction holds.
    ///
    /// A statement that changes many rows takes them in the order in which they stand, and a batch of reports takes some of
    /// the same rows in an order of its own. The statement waits for none of them, so that the two never wait for each other
    /// crosswise. What it leaves out is found by the next one.
    ///
    /// - Parameter condition: What follows `WHERE`, with an order and a limit where it has them.
    func free(of table: String, where condition: String) -> String {
        guard let place = self.rowPlace else { return condition }
        return "\(place) = ANY (ARRAY(SELECT \(place) FROM \(table) WHERE \(condition)\(self.rowLocks.free)))"
    }
}
