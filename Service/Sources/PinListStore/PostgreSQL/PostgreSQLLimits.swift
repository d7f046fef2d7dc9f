// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Limits of the work with a PostgreSQL database. A value, so that a test chooses smaller ones.
struct PostgreSQLLimits: Sendable {
    /// The connections that read. Two more write, one of them reports and counts alone: an instance makes one change of
    /// each kind at a time.
    var readers = 3
    /// The number of calls that may wait for a connection, to read, to write and to append each; one more is refused as
    /// `busy`.
    var waitingCalls = 256

    /// The part of the calls that may wait which is open to strangers, one in so many.
    static let strangersPart = 2

    /// Seconds until the attempt to connect to one host is given up (libpq's `connect_timeout`).
    var connectSeconds = 5
    /// Milliseconds that the server spends on one statement.
    var statementMilliseconds = 30_000
    /// Milliseconds that a call waits for another writer; as long as with SQLite.
    var lockMilliseconds = 5_000
    /// Milliseconds after which the server ends a transaction that is idle: an instance that stopped in the middle of a
    /// change blocks other writers no longer than this.
    var idleInTransactionMilliseconds = 15_000
    /// Milliseconds without a byte from the server after which it counts as gone, for each statement that was sent at
    /// once; longer than it may take for a statement, so that a server that is only slow says so itself.
    var silenceMilliseconds: Int32 = 40_000
    /// Milliseconds that sent bytes may stay unacknowledged (libpq's `tcp_user_timeout`).
    var userTimeoutMilliseconds = 25_000
    /// Seconds of silence before the first keepalive of TCP, and between two.
    var keepaliveSeconds = (first: 10, next: 5)
    /// The number of keepalives without an answer that end a connection.
    var keepaliveCount = 3

    /// Seconds after a failed attempt to connect without another one; doubled with each failure, up to the longest.
    var pauseSeconds = (first: 0.25, maximum: 5.0)
    /// The number of statements that a connection keeps prepared; then it forgets all of them.
    var preparedStatements = 128
    /// Whether statements that nothing waits for are sent with the next one, where the library can do that.
    var isPipelined = true

    /// The same for a migration of the tables: it reads and writes all rows, and others wait for it.
    var migrating: Self {
        var limits = self
        limits.statementMilliseconds = Self.migrationMilliseconds
        limits.lockMilliseconds = Self.migrationMilliseconds
        limits.silenceMilliseconds = Int32(clamping: Self.migrationMilliseconds + Self.migrationMilliseconds / 4)
        return limits
    }

    /// Milliseconds that one statement of a migration may take: an hour, because some go through all rows.
    private static let migrationMilliseconds = 3_600_000
    /// The maximum length of an address, in bytes of UTF-8.
    static let maximumAddressLength = 2_048
    /// The stack of a thread that makes calls, in bytes: lists and reports are evaluated on it.
    static let stackSize = 4 << 20
    /// The number of rows of each table that are measured to tell how large the database is.
    static let measuredRows = 200
    /// Bytes that a row takes beside its values: its header, its place in the page, and its entries in two indexes.
    static let rowOverhead: Int64 = 100
    /// The number of the first advisory lock (``StoreLock``), within one database: "tumbler" in ASCII.
    static let firstLock: Int64 = 0x74_756D_626C_6572
    /// The minimum number of rows that are copied with `COPY`, which takes two questions more than a statement that goes
    /// with others.
    static let copiedRows = 256
    /// The maximum number of bytes of statements that nothing waits for: then they are sent before the next question, so that
    /// memory is bounded.
    static let unsentBytes = 1 << 20
    /// The maximum number of bytes that are handed to libpq at once while rows are copied: a buffer of the usual size
    /// of pipes and sockets.
    static let copiedBytes = 65_536
}
