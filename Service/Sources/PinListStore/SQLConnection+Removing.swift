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
        if let place = self.rowPlace {
            let oldest = "SELECT \(place) FROM \(table) WHERE \(column) < ? ORDER BY \(column) LIMIT ?"
            // Once more: a row that is changed meanwhile may not be old any more, and has another place.
            let delete = "DELETE FROM \(table) WHERE \(place) = ANY (ARRAY(\(oldest))) AND \(column) < ?"
            return try self.execute(delete, [end, limit, end])
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
}
