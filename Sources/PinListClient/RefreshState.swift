// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// When a client refreshed last, and how that went: `state.json`. Nothing that is trusted stands in it.
struct RefreshState: Hashable, Sendable {
    /// The schema that this version writes.
    static let schema: Int64 = 1
    /// The most bytes of the file.
    static let maximumBytes = 4_096

    /// When a refresh last succeeded.
    var lastRefresh: Timestamp?
    /// Failures in a row since.
    var backoff = Backoff()
    /// Not before this time, after a failure.
    var notBefore: Timestamp?

    /// Why a file is not read.
    enum Defect: Error, Hashable {
        /// A newer version of this library wrote it.
        case newer
        /// It is not what is written here.
        case damaged
    }

    init() {}

    /// Reads the file.
    init(_ bytes: [UInt8]) throws(Defect) {
        guard let value = try? JSONValue(strict: bytes), case .object(let members) = value else { throw .damaged }
        for member in members {
            switch (member.name, member.value) {
            case ("schema", .integer(Self.schema)): continue
            case ("schema", .integer(let schema)): throw schema > Self.schema ? .newer : .damaged
            case ("lastRefresh", .string(let text)):
                guard let time = try? Timestamp(text) else { throw .damaged }
                self.lastRefresh = time
            case ("notBefore", .string(let text)):
                guard let time = try? Timestamp(text) else { throw .damaged }
                self.notBefore = time
            case ("failures", .integer(let count)):
                guard (0...1_000_000).contains(count) else { throw .damaged }
                self.backoff.failures = Int(count)
            default: throw .damaged
            }
        }
        guard members.contains(where: { $0.name == "schema" }) else { throw .damaged }
    }

    /// The file.
    var bytes: [UInt8] {
        var members = [JSONValue.Member("schema", .integer(Self.schema))]
        if let lastRefresh { members.append(.init("lastRefresh", .string(lastRefresh.description))) }
        if self.backoff.failures > 0 { members.append(.init("failures", .integer(Int64(self.backoff.failures)))) }
        if let notBefore { members.append(.init("notBefore", .string(notBefore.description))) }
        return JSONValue.object(members).bytes
    }

    /// How long until the next refresh, in seconds; 0 when one is due. A clock that went back makes one due.
    func wait(refreshInterval: Int64, at now: Timestamp) -> Int64 {
        if let notBefore = self.notBefore, self.backoff.failures > 0 {
            let wait = notBefore.secondsSince1970 - now.secondsSince1970
            return wait > Int64(Backoff.mostAsked) ? 0 : max(0, wait)
        }
        guard let lastRefresh = self.lastRefresh, lastRefresh <= now else { return 0 }
        return max(0, lastRefresh.secondsSince1970 + refreshInterval - now.secondsSince1970)
    }
}
