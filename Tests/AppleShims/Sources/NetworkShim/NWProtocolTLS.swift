// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import SecurityShim

/// A protocol in a connection's stack.
open class NWProtocol {}

/// How a protocol is used.
open class NWProtocolOptions {
    init() {}
}

/// TLS (iOS 12).
public class NWProtocolTLS: NWProtocol {
    /// How TLS is used. Not `Sendable`, which is the stricter reading.
    public class Options: NWProtocolOptions {
        /// The options of the handshake.
        public let securityProtocolOptions: sec_protocol_options_t

        /// Options that ask for nothing.
        public override init() {
            self.securityProtocolOptions = SimulatedProtocolOptions()
            super.init()
        }
    }
}

/// TCP (iOS 12).
public class NWProtocolTCP: NWProtocol {
    /// How TCP is used.
    public class Options: NWProtocolOptions {
        /// Whether small pieces are sent at once.
        public var noDelay = false
        /// Seconds until a connection that is not there is given up.
        public var connectionTimeout = 0

        /// Options that ask for nothing.
        public override init() { super.init() }
    }
}
