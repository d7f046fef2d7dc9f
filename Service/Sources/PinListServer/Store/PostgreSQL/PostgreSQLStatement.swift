// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL

/// A statement as PostgreSQL numbers its values.
struct PostgreSQLStatement {
    /// With `$1`, `$2` and so on.
    let sql: String

    /// Numbers the values of a statement.
    ///
    /// - Parameter sql: With `?` for each value, in their order, and nowhere else: not within a literal either.
    init(_ sql: String) {
        var count = 0
        var numbered = ""
        numbered.reserveCapacity(sql.utf8.count + 16)
        for character in sql {
            if character == "?" {
                count += 1
                numbered += "$\(count)"
            } else {
                numbered.append(character)
            }
        }
        self.sql = numbered
    }
}
#endif
