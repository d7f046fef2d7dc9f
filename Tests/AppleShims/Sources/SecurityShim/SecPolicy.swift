// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

/// What a trust object is evaluated for. Not `Sendable`.
public final class SecPolicy: Hashable {
    /// What kind of policy.
    package enum Kind: Hashable {
        case basicX509
        case ssl(isServer: Bool, host: String?)
        case revocation(CFOptionFlags)
    }

    package let kind: Kind

    package init(_ kind: Kind) { self.kind = kind }

    /// The same kind, with the same host.
    public static func == (left: SecPolicy, right: SecPolicy) -> Bool { left.kind == right.kind }

    /// Hashes kind and host.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.kind) }
}

/// The key of a policy's object identifier in its properties.
public nonisolated(unsafe) let kSecPolicyOid: CFString = "SecPolicyOid"  // because it never changes
/// The key of a policy's host name in its properties.
public nonisolated(unsafe) let kSecPolicyName: CFString = "SecPolicyName"  // because it never changes
/// The key that says that the policy is for a client's certificate.
public nonisolated(unsafe) let kSecPolicyClient: CFString = "SecPolicyClient"  // because it never changes
/// The identifier of the policy for TLS.
public nonisolated(unsafe) let kSecPolicyAppleSSL: CFString = "1.2.840.113635.100.1.3"  // because it never changes
/// The identifier of the policy for X.509 alone.
public nonisolated(unsafe) let kSecPolicyAppleX509Basic: CFString = "1.2.840.113635.100.1.2"  // because likewise

/// A policy for TLS.
///
/// - Parameters:
///   - server: Whether the certificate is a server's.
///   - hostname: The host that it must be for; `nil` for any.
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy {
    SecPolicy(.ssl(isServer: server, host: hostname.map(String.init(describing:))))
}

/// A policy for RFC 5280 without a name and a purpose.
public func SecPolicyCreateBasicX509() -> SecPolicy { SecPolicy(.basicX509) }

/// Asks for revocation by any method: OCSP and revocation lists.
public let kSecRevocationUseAnyAvailableMethod: CFOptionFlags = 3
/// Refuses what no responder says to be good.
public let kSecRevocationRequirePositiveResponse: CFOptionFlags = 8

/// A policy for revocation; `nil` for flags that there are not.
public func SecPolicyCreateRevocation(_ revocationFlags: CFOptionFlags) -> SecPolicy? {
    revocationFlags >> 5 == 0 ? SecPolicy(.revocation(revocationFlags)) : nil
}

/// What a policy asks for.
public func SecPolicyCopyProperties(_ policyRef: SecPolicy) -> CFDictionary? {
    switch policyRef.kind {
    case .revocation: return [:] as [CFString: Any] as CFDictionary
    case .basicX509: return [kSecPolicyOid: kSecPolicyAppleX509Basic] as [CFString: Any] as CFDictionary
    case .ssl(let isServer, let host):
        var properties: [CFString: Any] = [kSecPolicyOid: kSecPolicyAppleSSL]
        properties[kSecPolicyName] = host
        if !isServer { properties[kSecPolicyClient] = true }
        return properties as CFDictionary
    }
}
