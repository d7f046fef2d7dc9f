// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CPQ

/// Rows on their way into a table as one statement, however many they are and whatever is null in them: an array for each
/// column, of which `unnest` makes rows again.
///
/// A statement of `VALUES` would be another one for each number of rows and each pattern of nulls, which have no type. A
/// column in which all is null has no array: a literal takes the type of its column.
struct PostgreSQLArrays {
    /// The statement, with `?` for each array.
    let sql: String
    /// The arrays: those of columns with a value.
    let parameters: PostgreSQLParameters

    /// Writes rows.
    ///
    /// - Throws: ``StoreError`` of code `damaged` for a column with values of different types.
    init(_ rows: [[SQLValue]], _ insertion: SQLInsertion) throws(StoreError) {
        var parameters = PostgreSQLParameters([])
        var (names, values): ([String], [String]) = ([], [])
        for (index, column) in insertion.columns.enumerated() {
            let cells = rows.map { $0.indices.contains(index) ? $0[index] : .null }
            guard let first = cells.first(where: { $0 != .null }) else {
                values.append("NULL")
                continue
            }
            guard parameters.addArray(of: cells, like: first) else {
                throw StoreError(.damaged, "column \(column) of \(insertion.table) would get values of different types")
            }
            names.append(column)
            values.append("v.\(column)")
        }
        self.sql = """
            INSERT INTO \(insertion.table) (\(insertion.columns.joined(separator: ", ")))
            SELECT \(values.joined(separator: ", "))
            FROM unnest(\(names.map { _ in "?" }.joined(separator: ", "))) AS v (\(names.joined(separator: ", ")))
            \(insertion.conflict)
            """
        self.parameters = parameters
    }
}
