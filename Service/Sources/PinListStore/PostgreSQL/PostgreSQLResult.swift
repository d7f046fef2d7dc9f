// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CPQ

/// The server's answer to a statement; its memory is libpq's, and ends with it.
final class PostgreSQLResult {
    private let result: OpaquePointer

    /// Takes a result over.
    init(_ result: OpaquePointer) { self.result = result }

    deinit { PQclear(self.result) }

    /// The reason for which the statement was refused; `nil` when it was not.
    var failure: StoreError? {
        switch PQresultStatus(self.result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: nil
        default:
            StoreError(
                sqlState: self.sqlState,
                message: StoreError.text(
                    PQresultErrorField(self.result, Int32(UInt8(ascii: "M"))) ?? PQresultErrorMessage(self.result)))
        }
    }

    /// Whether the server waits for rows.
    var takesRows: Bool { PQresultStatus(self.result) == PGRES_COPY_IN }

    /// Whether it says that all answers of a pipeline were given.
    var endsPipeline: Bool { PQresultStatus(self.result) == PGRES_PIPELINE_SYNC }

    /// The SQLSTATE of the refusal; empty when the server said none.
    var sqlState: String {
        PQresultErrorField(self.result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) } ?? ""
    }

    /// The command that was carried out, such as `COMMIT`. A transaction in which something failed answers `ROLLBACK`
    /// to a COMMIT.
    var command: String { PQcmdStatus(self.result).map { String(cString: $0) } ?? "" }

    /// The number of rows that were changed.
    var changedCount: Int { PQcmdTuples(self.result).flatMap { Int(String(cString: $0)) } ?? 0 }

    /// The first column of the first row, of a simple query: text.
    var firstText: String? {
        guard PQntuples(self.result) > 0, PQnfields(self.result) > 0, PQgetisnull(self.result, 0, 0) == 0 else {
            return nil
        }
        return PQgetvalue(self.result, 0, 0).map { String(cString: $0) }
    }

    /// The rows, of a query with binary results.
    ///
    /// - Throws: ``StoreError`` of code `damaged` for a type that no table here has.
    func rows() throws(StoreError) -> [SQLRow] {
        let columns = PQnfields(self.result)
        var rows: [SQLRow] = []
        rows.reserveCapacity(Int(PQntuples(self.result)))
        for row in 0..<PQntuples(self.result) {
            var values: [SQLValue] = []
            values.reserveCapacity(Int(columns))
            for column in 0..<columns {
                guard PQgetisnull(self.result, row, column) == 0 else {
                    values.append(.null)
                    continue
                }
                let bytes = UnsafeRawBufferPointer(
                    start: PQgetvalue(self.result, row, column), count: Int(PQgetlength(self.result, row, column)))
                let type = PQftype(self.result, column)
                guard let value = SQLValue(postgreSQL: bytes, type: type) else {
                    throw StoreError(.damaged, "column \(column) of a row has type \(type), \(bytes.count) bytes")
                }
                values.append(value)
            }
            rows.append(SQLRow(values: values))
        }
        return rows
    }
}
