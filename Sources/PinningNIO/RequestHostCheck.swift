// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import NIOConcurrencyHelpers
import NIOHTTP1
@_spi(Adapters) import PinListClient

/// The check of a request on a connection.
enum RequestCheck: Sendable {
    /// For an `HTTPClient` of an app's own, whose requests are first seen on a connection: whether it is for the host.
    case host(RequestHostCheck)
    /// For ``PinnedHTTPClient``, which sends requests to the host alone: it is counted, for the check of its response.
    case admission(AdmittedRequests)
    /// For a connection that no request is sent on.
    // Indirect, so that a copy of the others is small; one is made for each request of HTTP/2.
    indirect case localPeer(LocalPeerError)

    /// Whether a request may be refused for its head, or for its connection.
    var mayRefuse: Bool {
        guard case .admission = self else { return true }
        return false
    }

    /// Returns why a request is not sent.
    func refusal(of head: HTTPRequestHead) -> (any Error)? {
        switch self {
        case .host(let hosts): hosts.refusal(of: head)
        case .admission: nil
        case .localPeer(let error): error
        }
    }

    /// A connection with an allowing decision takes a request.
    func admit() {
        if case .admission(let requests) = self { requests.admit() }
    }
}

/// The check whether a request is for the host that connections are evaluated for: an app can give its own `HTTPClient`
/// any URL, and a certificate may be valid for several hosts.
final class RequestHostCheck: Sendable {
    private let server: ServerEvaluator
    /// The newest accepted field `Host`: nearly every request has the same.
    private let newest = NIOLockedValueBox<String?>(nil)

    /// Creates a check for one server.
    init(_ server: ServerEvaluator) { self.server = server }

    /// Returns why a request is not sent: it is for another host, or its host is unknown. `nil` when it may be sent.
    func refusal(of head: HTTPRequestHead) -> PinningError? {
        let fields = head.headers["Host"]
        guard fields.count == 1 else { return self.refusal(for: "", "the request names no host, or several") }
        guard fields[0] != self.newest.withLockedValue({ $0 }) else { return nil }
        // The form of a URL: a name or an address, and perhaps a port.
        let written = RequestTarget("https://\(fields[0])")?.host ?? ""
        guard let host = try? HostName(written), host == self.server.host else {
            return self.refusal(
                for: written, "the request is for another host than \(self.server.host), which its client is pinned for"
            )
        }
        self.newest.withLockedValue { $0 = fields[0] }
        return nil
    }

    private func refusal(for host: String, _ detail: String) -> PinningError {
        let facts = ConnectionFacts(port: self.server.port)
        return PinningError(
            self.server.pinning.refusal(of: host, .otherHostConnection, detail: detail, connection: facts))
    }
}
#endif
