// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
public import Foundation

/// What is not Apple's: the object behind a `sec_trust_t`.
public final class SimulatedTrust: NSObject, OS_sec_trust {
    let trust: SecTrust

    /// Wraps a trust object.
    public init(_ trust: SecTrust) { self.trust = trust }
}

/// What is not Apple's: the object behind a `sec_protocol_metadata_t`.
public final class SimulatedProtocolMetadata: NSObject, OS_sec_protocol_metadata {
    let serverName: UnsafeMutablePointer<CChar>?

    /// What a handshake came to know.
    public init(serverName: String?) { self.serverName = serverName.flatMap { strdup($0) } }

    deinit { free(self.serverName) }
}

/// What is not Apple's: the object behind a `sec_protocol_options_t`.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
public final class SimulatedProtocolOptions: NSObject, OS_sec_protocol_options, @unchecked Sendable {
    private let lock = NSLock()
    private var block: (sec_protocol_verify_t, DispatchQueue)?
    private var name: String?
    private var resumption = true
    private var tickets = true
    private var protocols: [String] = []
    private var oldest: tls_protocol_version_t?

    /// Options that ask for nothing.
    public override init() {}

    /// Whether sessions are resumed.
    public var resumes: Bool { self.lock.withLock { self.resumption } }
    /// Whether tickets are taken, by which servers resume sessions.
    public var takesTickets: Bool { self.lock.withLock { self.tickets } }
    /// The name that was set.
    public var serverName: String? { self.lock.withLock { self.name } }
    /// The oldest version that is spoken.
    public var oldestVersion: tls_protocol_version_t? { self.lock.withLock { self.oldest } }
    /// The protocols that are offered.
    public var applicationProtocols: [String] { self.lock.withLock { self.protocols } }
    /// Who decides on the peer, and where.
    package var verifyBlock: (sec_protocol_verify_t, DispatchQueue)? { self.lock.withLock { self.block } }

    func setVerifyBlock(_ block: @escaping sec_protocol_verify_t, _ queue: DispatchQueue) {
        self.lock.withLock { self.block = (block, queue) }
    }

    func setServerName(_ name: String) { self.lock.withLock { self.name = name } }

    func setResumes(_ resumes: Bool) { self.lock.withLock { self.resumption = resumes } }

    func setTakesTickets(_ takes: Bool) { self.lock.withLock { self.tickets = takes } }

    func setOldestVersion(_ version: tls_protocol_version_t) { self.lock.withLock { self.oldest = version } }

    func addApplicationProtocol(_ name: String) { self.lock.withLock { self.protocols.append(name) } }
}
