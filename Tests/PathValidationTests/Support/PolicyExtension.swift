// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import SwiftASN1
import X509

/// The policy extensions of RFC 5280, as DER.
enum PolicyExtension {
    /// *anyPolicy*.
    static let any: [UInt8] = [6, 4, 0x55, 0x1d, 0x20, 0]

    /// A policy of the tests' own: an object identifier.
    static func policy(_ number: UInt16) -> [UInt8] {
        let low = UInt8(number & 0x7f)
        let digits: [UInt8] =
            switch number {
            case ..<0x80: [low]
            case ..<0x4000: [UInt8(number >> 7) | 0x80, low]
            default: [UInt8(number >> 14) | 0x80, UInt8(number >> 7 & 0x7f) | 0x80, low]
            }
        return DERParts.element(6, [0x2b, 6, 1, 4, 1, 0x83, 0xb3, 0x3a] + digits)
    }

    /// Certificate policies.
    static func policies(_ policies: [[UInt8]], critical: Bool = false) -> Certificate.Extension {
        let value = DERParts.sequence(policies.map { DERParts.sequence([$0]) })
        return Certificate.Extension(oid: [2, 5, 29, 32], critical: critical, value: value[...])
    }

    /// Policy mappings.
    static func mappings(_ pairs: [([UInt8], [UInt8])]) -> Certificate.Extension {
        let value = DERParts.sequence(pairs.map { DERParts.sequence([$0.0, $0.1]) })
        return Certificate.Extension(oid: [2, 5, 29, 33], critical: true, value: value[...])
    }

    /// Policy constraints.
    static func constraints(explicit: UInt8? = nil, mapping: UInt8? = nil) -> Certificate.Extension {
        let fields = [explicit.map { [0x80, 1, $0] }, mapping.map { [0x81, 1, $0] }].compactMap { $0 }
        return Certificate.Extension(oid: [2, 5, 29, 36], critical: true, value: DERParts.sequence(fields)[...])
    }

    /// The number of certificates after which *anyPolicy* does not count.
    static func inhibitAny(_ skip: UInt8) -> Certificate.Extension {
        Certificate.Extension(oid: [2, 5, 29, 54], critical: true, value: [2, 1, skip])
    }
}
#endif
