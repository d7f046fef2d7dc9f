// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import CertificatePinning
import SwiftASN1
import X509

/// The server whose certificate the leaf must be.
public enum ServerIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The server with this name or address.
    case host(HostName)

    /// Any server. Only for the question whether a chain validates at all: the outcome must not decide on a connection.
    case uncheckedName

    /// No server: the path is for another purpose, such as the signer of a document. The caller must check the leaf's
    /// names and the extended key usages of the path. The outcome must not decide on a
    /// connection.
    case noServer

    /// The host, for messages.
    public var description: String {
        switch self {
        case .host(let host): host.description
        case .uncheckedName: "any-server"
        case .noServer: "no server"
        }
    }
}

extension ServerIdentity {
    /// Whether the certificates must be for TLS servers, where they state a purpose.
    var isServer: Bool { self != .noServer }

    /// Whether a leaf is this server's (RFC 9525): by subject alternative names alone, never by the common name; a
    /// wildcard is the whole of the first label, stands for exactly one, and has two labels after it at least.
    ///
    /// A wildcard stands for an A-label (`xn--…`) as for any other label, but is never within one: `xn--*.example.com`
    /// is no wildcard here and matches no host (RFC 6125, section 6.4.3, rule 3; RFC 9525, section 6.3). Go, webpki,
    /// OpenSSL, BoringSSL and swift-certificates do the same. NIOSSL also refuses `*.example.com` for a host whose
    /// first label is an A-label: on connections to such a host this comparison is alone.
    ///
    /// Applied beside swift-certificates' `ServerIdentityPolicy`, which also accepts the common name and wildcards
    /// within a label. Both must agree.
    func matches(_ names: SubjectAlternativeNames?) -> Bool {
        guard case .host(let host) = self else { return true }
        guard let names else { return false }
        if let address = IPAddress(host) {
            return names.contains { name in
                guard case .ipAddress(let presented) = name else { return false }
                return presented.bytes.elementsEqual(address.bytes)
            }
        }
        return names.contains { name in
            guard case .dnsName(let presented) = name else { return false }
            return Self.matches(presented: presented, host: host.description)
        }
    }

    private static func matches(presented: String, host: String) -> Bool {
        let presented = presented.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        guard presented.starts(with: "*.".utf8) else { return presented.elementsEqual(host.utf8) }
        let parent = presented.dropFirst(2)
        // No public suffix list here: as elsewhere, two labels after the wildcard.
        guard parent.contains(UInt8(ascii: ".")), !parent.contains(UInt8(ascii: "*")),
            let dot = host.utf8.firstIndex(of: UInt8(ascii: "."))
        else { return false }
        return host.utf8[host.utf8.index(after: dot)...].elementsEqual(parent)
    }
}
#endif
