// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
internal import CertificatePinning
internal import Foundation
internal import Security

/// The function that the delegates call, for the trials of `PinningIntegrity` with chains of its own.
@_spi(Adapters)
public enum TrustTrial {
    /// Whether the system finds a path from a presented chain to one anchor, without the network.
    ///
    /// - Parameters:
    ///   - presented: Certificates in DER, the leaf first.
    ///   - anchor: The only anchor, in DER.
    ///   - host: The server's name.
    /// - Returns: `nil` when the system cannot be asked.
    public static func hasPath(_ presented: [[UInt8]], to anchor: [UInt8], for host: String) async -> Bool? {
        await withCheckedContinuation { answer in
            TrustQueue.evaluate {
                let chain = presented.compactMap { SecCertificateCreateWithData(nil, Data($0) as CFData) }
                var trust: SecTrust?
                let policy = SecPolicyCreateSSL(true, host as CFString)
                guard chain.count == presented.count, let name = try? HostName(host),
                    let anchor = SecCertificateCreateWithData(nil, Data(anchor) as CFData),
                    SecTrustCreateWithCertificates(chain as CFArray, policy, &trust) == errSecSuccess, let trust
                else { return answer.resume(returning: nil) }
                SecTrustSetAnchorCertificates(trust, [anchor] as CFArray)
                SecTrustSetNetworkFetchAllowed(trust, false)
                guard case .success = SystemTrust.validate(trust, for: name) else {
                    return answer.resume(returning: false)
                }
                answer.resume(returning: true)
            }
        }
    }
}
#endif
