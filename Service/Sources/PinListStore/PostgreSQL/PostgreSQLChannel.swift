// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CPQ
internal import Foundation

/// Questions to the server and its answers, each wait with an end.
///
/// libpq's own calls wait for ever: a server that was stopped in the middle of an answer would keep the thread.
final class PostgreSQLChannel {
    private let connection: OpaquePointer
    private let limits: PostgreSQLLimits

    /// Whether the server is gone. Then nothing more can be asked.
    private(set) var isLost = false

    /// Whether it was given up because the server was silent, and not because it was gone.
    private(set) var isSilent = false

    /// The number of questions whose answers come together: the server may be silent for as long as for all of them.
    private var questions = 1

    /// The number of times that it has waited for the server: what a change costs on a network, whatever else it costs.
    private(set) var roundTrips = 0

    /// Connects.
    ///
    /// - Throws: ``StoreError`` of code `unavailable`: where no server listens, for a wrong password, for a database
    ///   that does not exist.
    init(_ address: PostgreSQLAddress, _ limits: PostgreSQLLimits) throws(StoreError) {
        guard let connection = address.connect(limits) else {
            throw StoreError(.unavailable, "there is no memory for a connection")
        }
        guard PQstatus(connection) == CONNECTION_OK else {
            defer { PQfinish(connection) }
            throw StoreError(.unavailable, StoreError.text(PQerrorMessage(connection)))
        }
        // Notices are for people at a terminal.
        PQsetNoticeProcessor(connection, { _, _ in }, nil)
        PQsetnonblocking(connection, 1)
        self.connection = connection
        self.limits = limits
    }

    deinit { PQfinish(self.connection) }

    /// Whether no transaction is open.
    var isIdle: Bool { PQtransactionStatus(self.connection) == PQTRANS_IDLE }

    /// Sends a question and waits for the answer.
    ///
    /// - Parameter send: One of libpq's `PQsend…`, which give 0 when they fail.
    /// - Returns: The first refusal, or else the last answer.
    /// - Throws: ``StoreError`` of code `unavailable` when the server is gone.
    func answer(_ send: (OpaquePointer) -> Int32) throws(StoreError) -> PostgreSQLResult {
        guard !self.isLost else { throw StoreError(.unavailable, "the connection to the database was lost") }
        guard send(self.connection) == 1 else { throw self.lost() }
        self.roundTrips += 1
        try self.flush()
        return try self.answer()
    }

    /// Whether several questions can be sent at once.
    static var hasPipeline: Bool { cpq_has_pipeline() == 1 }

    /// Sends several questions at once and waits for all answers. After one that is refused the server skips the others.
    ///
    /// - Parameters:
    ///   - sends: As in ``answer(_:)``, but for `PQsendQuery`, which libpq does not let into a pipeline.
    ///   - patience: The number of those that the server may take time for.
    /// - Returns: As many answers as there are questions. Those after a refusal are refusals, too.
    /// - Throws: ``StoreError`` of code `unavailable` when the server is gone.
    func answers(
        _ sends: [(OpaquePointer) -> Int32], patience: Int
    ) throws(StoreError) -> [PostgreSQLResult] {
        guard !self.isLost else { throw StoreError(.unavailable, "the connection to the database was lost") }
        guard PQenterPipelineMode(self.connection) == 1 else { throw self.lost() }
        for send in sends { guard send(self.connection) == 1 else { throw self.lost() } }
        guard PQpipelineSync(self.connection) == 1 else { throw self.lost() }
        self.roundTrips += 1
        self.questions = patience
        defer { self.questions = 1 }
        try self.flush()
        var answers: [PostgreSQLResult] = []
        for _ in sends { answers.append(try self.answer()) }
        guard try self.next()?.endsPipeline == true, PQexitPipelineMode(self.connection) == 1 else { throw self.lost() }
        return answers
    }

    /// Sends rows to the server (`COPY … FROM STDIN`) and waits for the answer.
    ///
    /// - Parameters:
    ///   - sql: The statement.
    ///   - bytes: The rows, in the format that the statement names.
    /// - Returns: The refusal, or the answer; then all rows are in.
    /// - Throws: ``StoreError`` of code `unavailable` when the server is gone.
    func copy(_ sql: String, _ bytes: [UInt8]) throws(StoreError) -> PostgreSQLResult {
        guard !self.isLost else { throw StoreError(.unavailable, "the connection to the database was lost") }
        guard PQsendQuery(self.connection, sql) == 1 else { throw self.lost() }
        // Once until it takes rows, and once until it has them.
        self.roundTrips += 2
        try self.flush()
        guard let begin = try self.next() else { throw self.lost() }
        guard begin.takesRows else {
            while try self.next() != nil {}
            return begin
        }
        var start = 0
        while start < bytes.count {
            let end = min(start + PostgreSQLLimits.copiedBytes, bytes.count)
            try self.put { connection in
                bytes[start..<end].withUnsafeBytes { part in
                    PQputCopyData(
                        connection, part.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(clamping: part.count))
                }
            }
            start = end
        }
        try self.put { PQputCopyEnd($0, nil) }
        try self.flush()
        return try self.answer()
    }

    /// Hands something to libpq, and waits while it has no room.
    ///
    /// - Parameter send: `PQputCopyData` or `PQputCopyEnd`, which give 0 when there is no room and less when they fail.
    private func put(_ send: (OpaquePointer) -> Int32) throws(StoreError) {
        while case let state = send(self.connection), state != 1 {
            guard state == 0 else { throw self.lost() }
            try self.waitForRoom()
        }
    }

    private func flush() throws(StoreError) {
        while case let state = PQflush(self.connection), state != 0 {
            guard state > 0 else { throw self.lost() }
            try self.waitForRoom()
        }
    }

    private func waitForRoom() throws(StoreError) {
        // It may have an answer already, and reads no more until that is taken.
        try self.wait(for: POLLIN | POLLOUT)
        guard PQconsumeInput(self.connection) == 1 else { throw self.lost() }
    }

    /// The first refusal, or else the last answer.
    private func answer() throws(StoreError) -> PostgreSQLResult {
        var answer: PostgreSQLResult?
        while let next = try self.next() { if answer?.failure == nil { answer = next } }
        if PQstatus(self.connection) != CONNECTION_OK { self.isLost = true }
        guard let answer else { throw self.lost() }
        return answer
    }

    private func next() throws(StoreError) -> PostgreSQLResult? {
        while PQisBusy(self.connection) == 1 {
            try self.wait(for: POLLIN)
            guard PQconsumeInput(self.connection) == 1 else { throw self.lost() }
        }
        return PQgetResult(self.connection).map(PostgreSQLResult.init)
    }

    private func wait(for events: Int32) throws(StoreError) {
        var descriptor = pollfd(fd: PQsocket(self.connection), events: Int16(events), revents: 0)
        let patience = Int32(clamping: Int(self.limits.silenceMilliseconds) * self.questions)
        while case let count = poll(&descriptor, 1, patience), count <= 0 {
            if count == 0 {
                self.isSilent = true
                throw self.lost("the database has not answered for \(patience) ms")
            }
            guard errno == EINTR else { throw self.lost() }
        }
    }

    private func lost(_ reason: String? = nil) -> StoreError {
        self.isLost = true
        return StoreError(.unavailable, reason ?? StoreError.text(PQerrorMessage(self.connection)))
    }
}
