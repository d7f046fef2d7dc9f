// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CPQ

/// libpq, PostgreSQL's client library, of the system: opened when the first address is read, and by nothing else.
///
/// A machine that keeps its state in SQLite needs none of it. A ``PostgreSQLAddress`` can only be made where it is open, so
/// no function of it is called before.
enum PostgreSQLLibrary {
    /// The files that are tried, one after the other: by its name where the system keeps libraries.
    #if canImport(Darwin)
    static let files = [
        "libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib", "/usr/local/opt/libpq/lib/libpq.5.dylib",
    ]
    #else
    static let files = ["libpq.so.5"]
    #endif

    /// The reason for which it cannot be used; nil where it is open. Tried once for a process.
    static let refusal: StoreError? = Self.open(Self.files)

    /// Opens the first library that there is.
    ///
    /// - Parameter files: Names or paths.
    /// - Returns: nil when one is open; otherwise an error of code `unsupported` with the system's reason for the last one.
    static func open(_ files: [String]) -> StoreError? {
        var reason = "no file is named"
        for file in files {
            guard let said = cpq_load(file) else { return nil }
            reason = String(cString: said)
        }
        return StoreError(
            .unsupported,
            "PostgreSQL needs its client library libpq, which cannot be opened (\(reason)): install it (Debian: apt-get"
                + " install libpq5; Homebrew: brew install libpq), or take `database` out of the configuration to keep the"
                + " state in SQLite")
    }
}
