// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Dispatch
public import Foundation

/// What a `sec_trust_t` is.
public protocol OS_sec_trust: NSObjectProtocol {}
/// What a `sec_protocol_metadata_t` is.
public protocol OS_sec_protocol_metadata: NSObjectProtocol {}
/// What a `sec_protocol_options_t` is.
public protocol OS_sec_protocol_options: NSObjectProtocol {}

/// A trust object of Network.framework. Not `Sendable`.
public typealias sec_trust_t = any OS_sec_trust
/// What a handshake came to know. Not `Sendable`.
public typealias sec_protocol_metadata_t = any OS_sec_protocol_metadata
/// How a handshake is done. Not `Sendable`.
public typealias sec_protocol_options_t = any OS_sec_protocol_options
/// Says whether the peer is trusted; to be called once. Not `Sendable`, which is the stricter reading.
public typealias sec_protocol_verify_complete_t = (Bool) -> Void
/// Decides on the peer, on a queue of its own. Not `@Sendable`.
public typealias sec_protocol_verify_t =
    (sec_protocol_metadata_t, sec_trust_t, @escaping sec_protocol_verify_complete_t) -> Void

/// Sets who decides on the peer, in place of the system.
public func sec_protocol_options_set_verify_block(
    _ options: sec_protocol_options_t, _ verify_block: @escaping sec_protocol_verify_t,
    _ verify_block_queue: DispatchQueue
) {
    (options as? SimulatedProtocolOptions)?.setVerifyBlock(verify_block, verify_block_queue)
}

/// Sets the name that is asked for, and that the certificate must have.
public func sec_protocol_options_set_tls_server_name(
    _ options: sec_protocol_options_t, _ server_name: UnsafePointer<CChar>
) {
    (options as? SimulatedProtocolOptions)?.setServerName(String(cString: server_name))
}

/// Says whether sessions are resumed.
public func sec_protocol_options_set_tls_resumption_enabled(
    _ options: sec_protocol_options_t, _ resumption_enabled: Bool
) {
    (options as? SimulatedProtocolOptions)?.setResumes(resumption_enabled)
}

/// Says whether tickets are taken, by which servers resume sessions.
public func sec_protocol_options_set_tls_tickets_enabled(_ options: sec_protocol_options_t, _ tickets_enabled: Bool) {
    (options as? SimulatedProtocolOptions)?.setTakesTickets(tickets_enabled)
}

/// Adds a protocol to those that are offered.
public func sec_protocol_options_add_tls_application_protocol(
    _ options: sec_protocol_options_t, _ application_protocol: UnsafePointer<CChar>
) {
    (options as? SimulatedProtocolOptions)?.addApplicationProtocol(String(cString: application_protocol))
}

/// Wraps a trust object.
public func sec_trust_create(_ trust: SecTrust) -> sec_trust_t? { SimulatedTrust(trust) }

/// The trust object inside, retained.
public func sec_trust_copy_ref(_ trust: sec_trust_t) -> Unmanaged<SecTrust> {
    guard let simulated = trust as? SimulatedTrust else { preconditionFailure("a trust object that is not the shim's") }
    return Unmanaged.passRetained(simulated.trust)
}

/// The name that was asked for; `nil` when there was none. It lives as long as the metadata.
public func sec_protocol_metadata_get_server_name(_ metadata: sec_protocol_metadata_t) -> UnsafePointer<CChar>? {
    (metadata as? SimulatedProtocolMetadata).flatMap { $0.serverName.map { UnsafePointer($0) } }
}
