// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL

internal import CPQ
internal import Foundation

extension PostgreSQLAddress {
    /// Connects, and waits for it.
    ///
    /// - Returns: What `PQconnectdbParams` gives: whoever asked looks at its status, and ends it.
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
#endif
