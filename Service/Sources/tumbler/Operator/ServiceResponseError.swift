// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// The reason for which there is no whole answer of a service.
struct ServiceResponseError: Error {
    /// The reason, without a full stop.
    let reason: String

    /// Whether the service may have got the request, and done what it says. A publisher must know.
    let mayHaveArrived: Bool

    /// States why.
    init(_ reason: String, mayHaveArrived: Bool) {
        self.reason = reason
        self.mayHaveArrived = mayHaveArrived
    }

    /// Describes the error of the network, in words.
    init(_ error: any Error, _ patience: ServiceClient.Patience) {
        let connect = Duration.milliseconds(patience.connectMilliseconds)
        switch error {
        case let error as HTTPClientError where [.connectTimeout, .tlsHandshakeTimeout].contains(error):
            self.init("no connection within \(connect)", mayHaveArrived: false)
        case let error as HTTPClientError where error == .deadlineExceeded || error == .cancelled:
            self.init(
                "no answer within \(Duration.milliseconds(patience.totalMilliseconds))", mayHaveArrived: true)
        case let error as HTTPClientError where error == .remoteConnectionClosed:
            self.init("the server closed the connection before its answer was over", mayHaveArrived: true)
        case let error as HTTPClientError:
            self.init("the request failed: \(error.shortDescription)", mayHaveArrived: true)
        case is NIOConnectionError:
            self.init(LiveServer.reason(for: error, connect), mayHaveArrived: false)
        case let error as IOError where error.errnoCode == ECONNREFUSED:
            self.init(LiveServer.reason(for: error, connect), mayHaveArrived: false)
        case NIOSSLError.handshakeFailed(let cause):
            let isUntrusted = "\(cause)".contains("CERTIFICATE_VERIFY_FAILED")
            self.init(
                isUntrusted ? "its certificate is not trusted here" : "no TLS handshake: \(cause)",
                mayHaveArrived: false)
        case is NIOSSLExtraError:
            self.init("its certificate is for another host", mayHaveArrived: false)
        case NIOSSLError.uncleanShutdown, HTTPParserError.invalidEOFState:
            self.init("the server cut the connection before its answer was over", mayHaveArrived: true)
        case let error as HTTPParserError:
            self.init("its answer is not HTTP: \(error)", mayHaveArrived: true)
        default:
            self.init("the request failed: \(error)", mayHaveArrived: true)
        }
    }
}
