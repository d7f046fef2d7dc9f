// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// One end of a connection (iOS 12).
public enum NWEndpoint: Hashable, Sendable {
    /// A host and a port.
    case hostPort(host: NWEndpoint.Host, port: NWEndpoint.Port)

    /// A host.
    public enum Host: Hashable, Sendable, ExpressibleByStringLiteral, CustomDebugStringConvertible {
        /// A name; addresses are names here, too.
        case name(String, NWInterface?)

        /// A name or an address.
        public init(_ string: String) { self = .name(string, nil) }

        /// A name or an address.
        public init(stringLiteral: String) { self.init(stringLiteral) }

        /// The name or the address.
        public var debugDescription: String {
            switch self {
            case .name(let name, _): name
            }
        }
    }

    /// A port.
    public struct Port: Hashable, Sendable, RawRepresentable, ExpressibleByIntegerLiteral {
        /// The number.
        public let rawValue: UInt16

        /// A port by its number.
        public init?(rawValue: UInt16) { self.rawValue = rawValue }

        /// A port by its number.
        public init(integerLiteral value: UInt16) { self.rawValue = value }

        /// A port by its number in text.
        public init?(_ service: String) {
            guard let number = UInt16(service) else { return nil }
            self.rawValue = number
        }

        /// 80.
        public static let http: Port = 80
        /// 443.
        public static let https: Port = 443
    }
}

/// A network interface; never created here.
public final class NWInterface: Hashable, Sendable {
    /// The same object.
    public static func == (left: NWInterface, right: NWInterface) -> Bool { left === right }

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Why a connection does not work.
public enum NWError: Error, Equatable, Sendable {
    /// An error of the system.
    case posix(POSIXErrorCode)
    /// An error of name resolution.
    case dns(Int32)
    /// An error of TLS.
    case tls(Int32)
}
