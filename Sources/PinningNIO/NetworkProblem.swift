// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import Foundation
public import NIOCore
import NIOExtras
import NIOHTTP1
import NIOPosix
import NIOSSL
import PinListClient

/// A failure that kept a request from its answer, in a sentence: the one translator of the errors of SwiftNIO, NIOSSL
/// and AsyncHTTPClient.
///
/// The descriptions of those errors are for developers: they name types, numbers, and paths of source files. None of them
/// is repeated here.
@_spi(Tools) public struct NetworkProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The limits that were in force, for the sentences that name them.
    public struct Limits: Sendable {
        /// The maximum wait for a connection.
        public var connect: TimeAmount
        /// The maximum wait for an answer.
        public var answer: TimeAmount

        /// States limits.
        ///
        /// - Parameters:
        ///   - connect: The longest wait for a connection.
        ///   - answer: The longest wait for an answer.
        public init(connect: TimeAmount, answer: TimeAmount) {
            self.connect = connect
            self.answer = answer
        }
    }

    /// The kind of a failure.
    public enum Kind: Hashable, Sendable {
        /// The name, or the way to it: nothing was sent.
        case connection
        /// The proxy, before anything reached the server.
        case proxy
        /// The server's certificate does not hold for the platform.
        case certificate
        /// TLS, for another reason.
        case handshake
        /// There was a connection, and the answer is missing or broken.
        case answer
    }

    /// The kind of the failure.
    public let kind: Kind

    /// The sentence, without a full stop.
    public let description: String

    /// Whether the server may have got the request, and done what it says.
    public var mayHaveArrived: Bool { self.kind == .answer }

    /// Translates an error.
    ///
    /// - Parameters:
    ///   - error: What a library threw.
    ///   - limits: The limits that were in force.
    public init(_ error: any Error, _ limits: Limits) {
        switch error {
        case let problem as NetworkProblem: self = problem
        case let error as HTTPClientError: self.init(error, limits)
        case let error as NIOConnectionError:
            if error.dnsAError != nil, error.dnsAAAAError != nil {
                self.init(.connection, "no such host as \(error.host)")
            } else {
                self.init(error.connectionErrors.map(\.error), at: Self.place(error.host, error.port), limits)
            }
        case let error as IOError: self.init(error)
        case ChannelError.connectTimeout: self.init(.connection, "no connection within \(Self.text(limits.connect))")
        case ChannelError.eof: self.init(.handshake, "the server closed the connection during the TLS handshake")
        case let error as NIOHTTP1ProxyConnectHandler.Error: self.init(error, limits)
        case let error as NIOSSLError: self.init(error)
        case let error as NIOSSLExtraError: self.init(error)
        case HTTPParserError.invalidEOFState: self.init(.answer, Self.cut)
        case is HTTPParserError: self.init(.answer, "the answer is not HTTP")
        case let error as PinningSetupError: self.init(.connection, error.reason)
        case let error as ConnectionRetiredError: self.init(.connection, error.description)
        case let error as FetchError: self.init(.answer, error.reason)
        case is CancellationError: self.init(.answer, "the request was cancelled")
        // Only its type: the rest may be anything.
        default: self.init(.answer, "the request failed (\(type(of: error)))")
        }
    }

    /// Translates an error of one of these libraries; `nil` for any other.
    public static func known(_ error: any Error) -> NetworkProblem? {
        switch error {
        case is NetworkProblem, is HTTPClientError, is NIOConnectionError, is IOError, is ChannelError, is NIOSSLError,
            is NIOSSLExtraError, is HTTPParserError, is FetchError, is PinningSetupError, is ConnectionRetiredError:
            NetworkProblem(error, Limits(connect: .seconds(10), answer: .seconds(60)))
        default: nil
        }
    }

    private init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    /// Translates the errors of the addresses of a place, of which none could be connected to.
    private init(_ errors: [any Error], at place: String, _ limits: Limits) {
        var problems: [NetworkProblem] = []
        for error in errors {
            let isRefused = (error as? IOError)?.errnoCode == ECONNREFUSED
            let problem = isRefused ? Self.refusal(at: place) : NetworkProblem(error, limits)
            if !problems.contains(problem) { problems.append(problem) }
        }
        switch problems.count {
        case 0: self.init(.connection, "no connection")
        case 1: self = problems[0]
        default:
            let words = problems.map(\.description).joined(separator: "; ")
            self.init(.connection, "no address of \(place) could be reached: \(words)")
        }
    }

    /// A refused connection. Whether a firewall refused it, as one that answers for the address does, cannot be seen.
    private static func refusal(at place: String) -> NetworkProblem {
        NetworkProblem(
            .connection, "the connection was refused: nothing listens on \(place), or a firewall rejects it")
    }

    /// The place that was asked. It is named because it may be a proxy, or one of `--connect-to`.
    private static func place(_ host: String, _ port: Int) -> String {
        "\(ProxyTunnel.bracketed(host)):\(port)"
    }

    private static let cut = "the server cut the connection before its answer was over"

    private init(_ error: HTTPClientError, _ limits: Limits) {
        switch error {
        case .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout:
            self.init(.connection, "no connection within \(Self.text(limits.connect))")
        case .httpProxyHandshakeTimeout, .socksHandshakeTimeout:
            self.init(.proxy, "the proxy did not connect within \(Self.text(limits.connect))")
        case .proxyAuthenticationRequired: self.init(.proxy, "the proxy asks for a name and a password (status 407)")
        case .invalidProxyResponse: self.init(.proxy, "the proxy did not open a tunnel to the server")
        case .deadlineExceeded, .cancelled:
            self.init(.answer, "no answer within \(Self.text(limits.answer))")
        case .readTimeout: self.init(.answer, "nothing more of the answer within \(Self.text(limits.answer))")
        case .remoteConnectionClosed:
            self.init(.answer, "the server closed the connection before its answer was over")
        case .uncleanShutdown: self.init(.answer, Self.cut)
        default: self.init(.answer, "the request failed: \(error.shortDescription)")
        }
    }

    private init(_ error: NIOHTTP1ProxyConnectHandler.Error, _ limits: Limits) {
        if error == .httpProxyHandshakeTimeout() {
            self.init(HTTPClientError.httpProxyHandshakeTimeout, limits)
        } else if error == .proxyAuthenticationRequired() {
            self.init(HTTPClientError.proxyAuthenticationRequired, limits)
        } else {
            self.init(HTTPClientError.invalidProxyResponse, limits)
        }
    }

    private init(_ error: IOError) {
        switch error.errnoCode {
        case ECONNREFUSED: self = Self.refusal(at: "this port")
        case ENETUNREACH, EADDRNOTAVAIL, EAFNOSUPPORT, EHOSTUNREACH:
            self.init(.connection, "this machine has no route to the address")
        case ETIMEDOUT: self.init(.connection, "no connection: the address does not answer")
        case ECONNRESET, EPIPE: self.init(.answer, Self.cut)
        case EMFILE, ENFILE: self.init(.connection, "no connection: this machine has too many files open")
        case EACCES, EPERM: self.init(.connection, "no connection: this machine does not permit it")
        default: self.init(.connection, "no connection (error \(error.errnoCode) of the system)")
        }
    }

    private init(_ error: NIOSSLExtraError) {
        switch error {
        case .failedToValidateHostname, .serverHostnameImpossibleToMatch:
            self.init(.certificate, "its certificate is for another host")
        default: self.init(.handshake, "the host name cannot be used in a TLS handshake")
        }
    }

    private init(_ error: NIOSSLError) {
        guard case .handshakeFailed(let cause) = error else {
            switch error {
            case .uncleanShutdown: self.init(.answer, Self.cut)
            case .noCertificateToValidate, .unableToValidateCertificate:
                self.init(.certificate, "it presented no certificate that can be validated")
            default: self.init(.handshake, "no TLS handshake")
            }
            return
        }
        // BoringSSL's reasons have no type of their own: their names stand in the description.
        let text = "\(cause)"
        let known = Self.handshakes.first { text.contains($0.name) }
        self.init(known?.kind ?? .handshake, known?.words ?? Self.noTLS)
    }

    private static let noTLS =
        "no TLS handshake: the server does not speak TLS on this port, or shares no version or cipher with this program"

    /// BoringSSL's names of reasons (`ssl.errordata`, `x509.errordata`), the more particular first.
    private static let handshakes: [(name: String, kind: Kind, words: String)] = [
        ("CERTIFICATE_VERIFY_FAILED", .certificate, "its certificate is not trusted here"),
        ("UNRECOGNIZED_NAME", .handshake, "no TLS handshake: the server does not know this host name"),
        ("CERTIFICATE_REQUIRED", .handshake, "no TLS handshake: the server asks for a client certificate"),
        ("PROTOCOL_VERSION", .handshake, "no TLS handshake: the server wants another version of TLS"),
        (
            "UNSUPPORTED_PROTOCOL", .handshake,
            "no TLS handshake: the server speaks only a version of TLS that is too old"
        ),
        ("ALERT_HANDSHAKE_FAILURE", .handshake, Self.noTLS),
        ("WRONG_VERSION_NUMBER", .handshake, Self.noTLS),
    ]

    /// A time for people: `10 s`, `0.3 s`.
    private static func text(_ amount: TimeAmount) -> String {
        let milliseconds = amount.nanoseconds / 1_000_000
        return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000) s" : "\(Double(milliseconds) / 1_000) s"
    }
}
#endif
