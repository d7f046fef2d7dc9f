// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// A version of TLS (iOS 13).
public enum tls_protocol_version_t: UInt16, Sendable {
    /// TLS 1.0.
    case TLSv10 = 0x0301
    /// TLS 1.1.
    case TLSv11 = 0x0302
    /// TLS 1.2.
    case TLSv12 = 0x0303
    /// TLS 1.3.
    case TLSv13 = 0x0304
}

/// Sets the oldest version that is spoken. Noted, and not used here.
public func sec_protocol_options_set_min_tls_protocol_version(
    _ options: sec_protocol_options_t, _ version: tls_protocol_version_t
) {
    (options as? SimulatedProtocolOptions)?.setOldestVersion(version)
}
