// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Network) && canImport(Security)
internal import CertificatePinning
internal import Dispatch
internal import Foundation
public import Network
public import PinListClient
internal import Security

extension NWProtocolTLS.Options {
    /// Evaluates each handshake under these options: the platform's validation for the host, then the pins.
    ///
    /// It sets the verify block, so call it after any other code that sets one. It switches off resumption of TLS sessions,
    /// and their tickets: a resumed session has no certificates, and the verify block would not be asked. A connection that is
    /// open stays open when rules come into force, and when a suspension ends: close it where `Pinning.policyChanges()` says
    /// so, and at the policy's `nextEndOfSuspension(after:)`.
    ///
    /// - Parameters:
    ///   - pinning: The client whose rules apply.
    ///   - host: The host that connections are made for, without a port; one object of options for each host.
    ///   - port: The port, for reports.
    public func pin(by pinning: Pinning, host: String, port: Int = 443) {
        let facts = ConnectionFacts(port: port)
        sec_protocol_options_set_tls_resumption_enabled(self.securityProtocolOptions, false)
        sec_protocol_options_set_tls_tickets_enabled(self.securityProtocolOptions, false)
        sec_protocol_options_set_verify_block(
            self.securityProtocolOptions,
            { _, trust, complete in
                let handed = HandedOver((trust: sec_trust_copy_ref(trust).takeRetainedValue(), complete: complete))
                TrustQueue.evaluate {
                    let decision = pinning.evaluate(trust: handed.value.trust, host: host, connection: facts)
                    handed.value.complete(decision.verdict == .allow)
                }
            }, TrustQueue.handshakes)
    }
}
#endif
