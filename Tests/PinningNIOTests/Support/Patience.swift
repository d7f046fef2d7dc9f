// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import NIOCore
import NIOPosix
import NIOSSL
import Testing

@testable import PinningNIO

extension TimeAmount {
    /// The time for what must come: met by a hang alone, on a machine however slow.
    static var ample: TimeAmount { .minutes(10) }
}

extension HTTPClientFetcher {
    /// A fetcher with all the time that a slow machine needs.
    static func patient(_ tls: TLSConfiguration = .makeClientConfiguration()) -> HTTPClientFetcher {
        HTTPClientFetcher(.singleton, tls, nil, 600, 600)
    }
}

extension HTTPClient.Configuration {
    /// Settings with all the time that a slow machine needs.
    static func patient(_ tls: TLSConfiguration) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.timeout.connect = TimeAmount.ample
        return configuration
    }
}

/// Tries a time-out, then one four times as long, until one was long enough for this machine to get to what must end with
/// it.
///
/// - Parameter body: Whether it got there.
func withTimeouts(from first: TimeAmount, _ body: (TimeAmount) async throws -> Bool) async throws {
    var timeout = first
    while timeout < .ample {
        if try await body(timeout) { return }
        timeout = timeout * 4
    }
    Issue.record("no time-out was long enough")
}
#endif
