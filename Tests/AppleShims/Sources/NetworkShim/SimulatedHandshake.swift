// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import SecurityShim

/// What is not Apple's: handshakes of Network.framework. Tests that run beside each other use different hosts.
public enum SimulatedHandshake {
    private struct State {
        var servers: [String: [[UInt8]]] = [:]
        var bytes: [String: Int] = [:]
    }

    private static let lock = NSLock()
    nonisolated(unsafe) private static var state = State()  // because it is used under the lock only

    /// Puts a server at a host and a port, for `NWConnection`.
    public static func setServer(presented: [[UInt8]], host: String, port: UInt16 = 443) {
        self.lock.withLock { self.state.servers["\(host):\(port)"] = presented }
    }

    /// How many bytes reached a server.
    public static func bytes(host: String, port: UInt16 = 443) -> Int {
        self.lock.withLock { self.state.bytes["\(host):\(port)"] ?? 0 }
    }

    /// Does a handshake: the verify block is asked on its queue; without one, the system evaluates.
    ///
    /// - Parameters:
    ///   - options: How TLS is used.
    ///   - presented: What the server presents: DER, the leaf first.
    ///   - serverName: The name that is asked for; one that is set in the options comes first.
    ///   - isKnown: Whether the process has a TLS session with the server, which is resumed without a question where the
    ///     options let it.
    /// - Returns: Whether the handshake succeeds.
    public static func run(
        options: NWProtocolTLS.Options, presented: [[UInt8]], serverName: String?, isKnown: Bool = false
    ) async -> Bool {
        let security = Self.security(of: options)
        if isKnown, security.resumes || security.takesTickets { return true }
        return await self.run(security: security, presented: presented, serverName: serverName)
    }

    static func security(of options: NWProtocolTLS.Options) -> SimulatedProtocolOptions {
        options.securityProtocolOptions as? SimulatedProtocolOptions ?? SimulatedProtocolOptions()
    }

    static func run(
        security: SimulatedProtocolOptions, presented: [[UInt8]], serverName: String?
    ) async -> Bool {
        let name = security.serverName ?? serverName
        let certificates = presented.compactMap { SecCertificate(der: $0) }
        var trust: SecTrust?
        guard !certificates.isEmpty, certificates.count == presented.count else { return false }
        SecTrustCreateWithCertificates(
            certificates as CFArray, SecPolicyCreateSSL(true, name.map { NSString(string: $0) }), &trust)
        guard let trust else { return false }
        guard let (block, queue) = security.verifyBlock else { return SecTrustEvaluateWithError(trust, nil) }
        let wrapped = Wrapped(
            trust: SimulatedTrust(trust), metadata: SimulatedProtocolMetadata(serverName: name), block: block)
        return await withCheckedContinuation { continuation in
            queue.async { wrapped.block(wrapped.metadata, wrapped.trust) { continuation.resume(returning: $0) } }
        }
    }

    /// The verify block, and what it gets.
    ///
    /// `@unchecked Sendable`: because only the block's queue has it.
    private struct Wrapped: @unchecked Sendable {
        let trust: SimulatedTrust
        let metadata: SimulatedProtocolMetadata
        let block: sec_protocol_verify_t
    }

    static func presented(host: String, port: UInt16) -> [[UInt8]]? {
        self.lock.withLock { self.state.servers["\(host):\(port)"] }
    }

    static func count(_ bytes: Int, host: String, port: UInt16) {
        self.lock.withLock { self.state.bytes["\(host):\(port)", default: 0] += bytes }
    }
}
