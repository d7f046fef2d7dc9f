// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import AsyncHTTPClient
public import NIOCore
import NIOExtras
import NIOHTTP1

/// A tunnel through a proxy (`CONNECT`; RFC 9110, section 9.3.6).
@_spi(Tools) public enum ProxyTunnel {
    /// Asks a proxy for a tunnel. After it the channel is as if it were connected to the server: nothing of HTTP is left in
    /// its pipeline.
    ///
    /// - Parameters:
    ///   - channel: A connection to the proxy with an empty pipeline.
    ///   - proxy: The proxy: its credentials and its fields.
    ///   - host: The server, a name or an address.
    ///   - port: The server's port.
    ///   - deadline: Until when the proxy must have answered.
    /// - Returns: The channel, when there is a tunnel.
    public static func open(
        _ channel: any Channel, through proxy: HTTPClient.Configuration.Proxy, to host: String, port: Int,
        until deadline: NIODeadline
    ) -> EventLoopFuture<any Channel> {
        var headers = proxy.connectHeaders
        if let authorization = proxy.authorization {
            headers.replaceOrAdd(name: "Proxy-Authorization", value: authorization.headerValue)
        }
        let sent = headers
        let established = channel.eventLoop.makePromise(of: Void.self)
        return channel.eventLoop.flatSubmit {
            do {
                let encoder = HTTPRequestEncoder()
                let decoder = ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes))
                let connect = NIOHTTP1ProxyConnectHandler(
                    targetHost: Self.bracketed(host), targetPort: port, headers: sent, deadline: deadline,
                    promise: established)
                try channel.pipeline.syncOperations.addHandlers([encoder, decoder, connect])
                // The third one removes itself.
                let handlers = NIOLoopBound((encoder, decoder), eventLoop: channel.eventLoop)
                return established.futureResult.flatMap {
                    let pipeline = channel.pipeline.syncOperations
                    let (encoder, decoder) = handlers.value
                    return pipeline.removeHandler(decoder).and(pipeline.removeHandler(encoder)).map { _ in channel }
                }
            } catch {
                established.fail(error)
                return channel.eventLoop.makeFailedFuture(error)
            }
        }
    }

    /// A host as it stands before a colon and a port: an IPv6 address in brackets (RFC 3986, section 3.2.2).
    static func bracketed(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }
}
#endif
