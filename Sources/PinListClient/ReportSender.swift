// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Foundation
internal import PinFailureReports

/// The transport for reports. A protocol, so that each platform and each test brings its own.
///
/// A sender speaks under the platform's default validation alone, never over a pinned transport: a report says that
/// pinning failed (formats.md, sections 5 and 7). A redirect takes method and body along, whatever its status.
public protocol ReportSender: Sendable {
    /// Posts a body.
    ///
    /// - Parameters:
    ///   - body: UTF-8 JSON.
    ///   - address: The absolute address.
    /// - Returns: The response; its body is ignored.
    /// - Throws: ``FetchError``; any other error counts as one.
    func send(_ body: [UInt8], to address: String) async throws -> FetchResponse

    /// Posts a body with further fields. The default leaves them out, and a report that so loses its signature says why.
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
    /// Posts the body without the fields. Where they have the signature of a report, its body says that it has none:
    /// `tumbler.attestation` is `failed`.
    public func send(_ body: [UInt8], to address: String, fields: [String: String]) async throws -> FetchResponse {
        let isSigned = fields[ReportSignature.field] != nil
        return try await self.send(isSigned ? ReportSignature.body(body, because: .failed) : body, to: address)
    }
}

/// An inbox for reports of handshakes, which any thread may add, until the client takes them. It is bounded as the queue is for
/// which they are: one failure many times takes the place of no other, and the first of a kind takes that of another one.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class ReportInbox: @unchecked Sendable {
    private let lock = NSLock()
    private var reports = ReportQueue()
    private let wakeUp = WorkSignal()

    /// Adds a report.
    ///
    /// - Parameters:
    ///   - report: The report.
    ///   - now: The time.
    ///   - wait: The wait before it is first sent, in seconds.
    func add(_ report: Report, at now: Timestamp, after wait: Int64) {
        self.lock.withLock { _ = self.reports.add(report, at: now, after: wait) }
        self.wakeUp.send()
    }

    /// Removes and returns all reports.
    func take() -> ReportQueue {
        self.lock.withLock {
            defer { self.reports = ReportQueue() }
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
