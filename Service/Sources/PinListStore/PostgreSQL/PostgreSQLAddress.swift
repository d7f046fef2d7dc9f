// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CPQ
internal import Foundation

/// The address of a database, as it stands in a configuration:
/// `postgres://USER@HOST:PORT/DATABASE?sslmode=verify-full`, and for a socket
/// `postgres:///DATABASE?host=/run/postgresql`.
///
/// Read by libpq itself, so that it means here what it means to PostgreSQL's own tools; then evaluated.
struct PostgreSQLAddress: Hashable, Sendable {
    /// The settings for libpq: its keywords and their values.
    let settings: [String: String]

    /// The members that an address may have. What is not here would change how the service works, such as `options`.
    private static let known: Set<String> = [
        "host", "hostaddr", "port", "dbname", "user", "passfile", "target_session_attrs", "channel_binding",
        "sslmode", "sslrootcert", "sslcert", "sslkey", "sslcrl",
    ]

    /// Reads an address.
    ///
    /// - Throws: ``StoreError`` of code `invalid-address`, which never repeats the address: it may hold a password. And of code
    ///   `unsupported` where ``PostgreSQLLibrary`` is not there.
    init(_ text: String) throws(StoreError) {
        guard text.utf8.count <= PostgreSQLLimits.maximumAddressLength else {
            throw Self.refusal("is longer than \(PostgreSQLLimits.maximumAddressLength) bytes")
        }
        guard Self.isAddress(text), text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw Self.refusal("is not of the form postgres://USER@HOST/DATABASE")
        }
        if let refusal = PostgreSQLLibrary.refusal { throw refusal }
        var settings = try Self.parsed(text)
        guard settings["password"] == nil, settings["sslpassword"] == nil else {
            throw Self.refusal(
                "has a password in it: take it out, put a line HOST:PORT:DATABASE:USER:PASSWORD into a file that only"
                    + " the service can read, and name that file by PGPASSFILE")
        }
        if let unknown = settings.keys.filter({ !Self.known.contains($0) }).min() {
            throw Self.refusal("says \(unknown), which the service does not take; it takes \(Self.listed)")
        }
        let hosts = Self.hosts(settings)
        guard !hosts.isEmpty, hosts.allSatisfy({ !$0.isEmpty }) else {
            throw Self.refusal("names no host; a server on this machine is ?host=/run/postgresql")
        }
        // A connection that leaves the machine is encrypted, and to the right server, unless the address says
        // otherwise.
        settings["sslmode"] = settings["sslmode"] ?? (hosts.allSatisfy(Self.isLocal) ? "prefer" : "verify-full")
        self.settings = settings
    }

    /// Whether a configured database is one of PostgreSQL.
    static func isAddress(_ text: String) -> Bool {
        text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
    }

    private static var listed: String { Self.known.sorted().joined(separator: ", ") }

    private static func refusal(_ reason: String) -> StoreError {
        StoreError(.invalidAddress, "the address of the database \(reason)")
    }

    private static func parsed(_ text: String) throws(StoreError) -> [String: String] {
        // Its message is dropped: it quotes the address.
        guard let options = PQconninfoParse(text, nil) else {
            throw Self.refusal("cannot be read: look at its % signs, its brackets, and the names after the ?")
        }
        defer { PQconninfoFree(options) }
        var settings: [String: String] = [:]
        var next = options
        while let keyword = next.pointee.keyword {
            if let value = next.pointee.val { settings[String(cString: keyword)] = String(cString: value) }
            next += 1
        }
        return settings
    }

    /// The targets of connections: for each host its address where one is given.
    private static func hosts(_ settings: [String: String]) -> [String] {
        func list(_ keyword: String) -> [String] {
            settings[keyword].map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) } ?? []
        }
        let (names, addresses) = (list("host"), list("hostaddr"))
        return (0..<max(names.count, addresses.count)).map { index in
            let address = index < addresses.count ? addresses[index] : ""
            return address.isEmpty && index < names.count ? names[index] : address
        }
    }

    private static func isLocal(_ host: String) -> Bool {
        if host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" || host == "::1" { return true }
        return host.hasPrefix("127.") && host.utf8.allSatisfy { $0 == 0x2E || (0x30...0x39).contains($0) }
    }
}

extension PostgreSQLAddress {
    /// Connects, and waits for it.
    ///
    /// - Returns: The connection that `PQconnectdbParams` gives: the caller checks its status, and closes it.
    func connect(_ limits: PostgreSQLLimits) -> OpaquePointer? {
        let fixed = [
            "client_encoding": "UTF8", "fallback_application_name": "tumbler", "gssencmode": "disable",
            "connect_timeout": "\(limits.connectSeconds)", "tcp_user_timeout": "\(limits.userTimeoutMilliseconds)",
            "keepalives": "1", "keepalives_idle": "\(limits.keepaliveSeconds.first)",
            "keepalives_interval": "\(limits.keepaliveSeconds.next)", "keepalives_count": "\(limits.keepaliveCount)",
        ]
        let all = self.settings.merging(fixed) { $1 }.sorted { $0.key < $1.key }
        let words = all.flatMap { [strdup($0.key), strdup($0.value)] }
        defer { for word in words { free(word) } }
        let keywords = stride(from: 0, to: words.count, by: 2).map { UnsafePointer(words[$0]) } + [nil]
        let values = stride(from: 1, to: words.count, by: 2).map { UnsafePointer(words[$0]) } + [nil]
        // 0: the name of the database is one, not another address.
        return PQconnectdbParams(keywords, values, 0)
    }
}
