// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import HummingbirdCore
internal import NIOCore

/// The limits on what one connection may ask of the service.
enum ConnectionLimits {
    /// The maximum number of bytes of one field of a request: a cookie, or an `If-None-Match` with some tags.
    static let fieldBytes = 8_192
    /// The maximum number of bytes of all fields (formats.md, section 7).
    static let headBytes = 16_384
    /// The maximum number of fields: many times what clients of lists send.
    static let fields = 64

    /// For each connection.
    ///
    /// - Parameters:
    ///   - deadlines: The deadlines for one request.
    ///   - responders: The responders to requests for lists and to reports; `nil` where there are none.
    static func configuration(
        _ deadlines: ServiceConfiguration.Deadlines, _ responders: (lists: ListResponder, reports: ReportResponder)?
    ) -> HTTP1Channel.Configuration {
        HTTP1Channel.Configuration(
            additionalChannelHandlers: [
                RequestDeadline(deadlines), ConnectionClosing(linger: TimeAmount(deadlines.linger)),
                ContinueAnswering(),
            ] + (responders.map { [ListChannelHandler($0.lists, $0.reports)] } ?? []),
            idleTimeout: nil,
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: Self.fieldBytes, maxHeaderListSize: Self.headBytes,
                maxHeaderFieldCount: Self.fields))
    }
}
