// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Foundation
internal import PinFailureReports

/// How reports leave. A protocol, so that each platform brings its own transport, and tests theirs.
///
/// A sender speaks under the platform's default validation alone, never over a pinned transport: a report says that
/// pinning failed (formats.md, sections 5 and 7).
public protocol ReportSender: Sendable {
    /// Posts a body.
    ///
    /// - Parameters:
    ///   - body: UTF-8 JSON.
    ///   - address: Where to, an absolute address.
    /// - Returns: The answer; its body does not matter.
    /// - Throws: ``FetchError``; anything else counts as one.
    func send(_ body: [UInt8], to address: String) async throws -> FetchResponse

    /// Posts a body with further fields. A sender that cannot leaves them out, which is the default.
    ///
    /// - Parameters:
    ///   - body: UTF-8 JSON.
    ///   - address: Where to, an absolute address.
    ///   - fields: Values by the names of fields, for this address alone: a redirect to another origin must not carry them
    ///     along.
    /// - Throws: As ``send(_:to:)``.
    func send(_ body: [UInt8], to address: String, fields: [String: String]) async throws -> FetchResponse
}

extension ReportSender {
    /// Posts the body without the fields.
    public func send(_ body: [UInt8], to address: String, fields: [String: String]) async throws -> FetchResponse {
        try await self.send(body, to: address)
    }
}

/// Takes reports from handshakes, on any thread, until the client has time for them.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class ReportInbox: @unchecked Sendable {
    /// How many are kept. Who causes more in one moment causes the same one again and again.
    private static let room = 64

    private let lock = NSLock()
    private var reports: [(report: Report, time: Timestamp)] = []
    private let wakeUp = WorkSignal()

    /// Adds a report; dropped when there is no room.
    func add(_ report: Report, at time: Timestamp) {
        self.lock.withLock {
            if self.reports.count < Self.room { self.reports.append((report, time)) }
        }
        self.wakeUp.send()
    }

    /// Takes all reports out.
    func take() -> [(report: Report, time: Timestamp)] {
        self.lock.withLock {
            defer { self.reports = [] }
            return self.reports
        }
    }

    /// A signal now, and one for each report.
    func signals() -> AsyncStream<Void> {
        let signals = self.wakeUp.signals()
        self.wakeUp.send()
        return signals
    }
}
