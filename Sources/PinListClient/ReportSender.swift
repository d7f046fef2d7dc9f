// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

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
    /// - Throws: ``FetchFailure``; anything else counts as one.
    func send(_ body: [UInt8], to address: String) async throws -> FetchResponse
}
