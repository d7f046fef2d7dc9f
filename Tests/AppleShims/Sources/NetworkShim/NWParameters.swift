// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// How a connection is made (iOS 12). Not `Sendable`, which is the stricter reading.
public class NWParameters {
    /// TLS with the system's validation, over TCP.
    public class var tls: NWParameters { NWParameters(tls: NWProtocolTLS.Options()) }
    /// TCP.
    public class var tcp: NWParameters { NWParameters(tls: nil) }

    let tlsOptions: NWProtocolTLS.Options?

    /// TCP, under TLS unless that is `nil`.
    public init(tls: NWProtocolTLS.Options?, tcp: NWProtocolTCP.Options = NWProtocolTCP.Options()) {
        self.tlsOptions = tls
    }
}
