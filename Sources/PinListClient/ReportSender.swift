// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Foundation
internal import PinFailureReports

/// The transport for reports. A protocol, so that each platform and each test brings its own.
///
/// A sender speaks under the platform's default validation alone, never over a pinned transport: a report says that
/// pinning failed (formats.md, sections 5 and 7).
public protocol ReportSender: Sendable {
    /// Posts a body.
    ///
    /// - Parameters:
    ///   - body: UTF-8 JSON.
    ///   - address: The absolute address.
    /// - Returns: The response; its body is ignored.
    /// - Throws: ``FetchError``; any other error counts as one.
    func send(_ body: [UInt8], to address: String) async throws -> FetchResponse

    /// Posts a body with further fields. The default leaves them out.
    ///
    /// - Parameters:
    ///   - body: UTF-8 JSON.
    ///   - address: The absolute address.
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

/// An inbox for reports of handshakes, which any thread may add, until the client takes them.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class ReportInbox: @unchecked Sendable {
    /// The maximum number of waiting reports: more in one moment are mostly repetitions.
    private static let room = 64

    private let lock = NSLock()
    private var reports: [(report: Report, time: Timestamp)] = []
    private let wakeUp = WorkSignal()

    /// Adds a report; drops it when the inbox is full.
    func add(_ report: Report, at time: Timestamp) {
        self.lock.withLock {
            if self.reports.count < Self.room { self.reports.append((report, time)) }
        }
        self.wakeUp.send()
    }

    /// Removes and returns all reports.
    func take() -> [(report: Report, time: Timestamp)] {
        self.lock.withLock {
            defer { self.reports = [] }
            return self.reports
        }
    }

    /// A stream with one signal now, and one for each report.
    func signals() -> AsyncStream<Void> {
        let signals = self.wakeUp.signals()
        self.wakeUp.send()
        return signals
    }
}
