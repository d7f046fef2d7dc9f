// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The file formats of other tools that are read and written.
@_spi(Tools) public enum MigrationFormat: String, Hashable, Sendable, CaseIterable {
    /// TrustKit's: `TSKConfiguration` in a property list.
    case trustKit = "trustkit"
    /// Apple's: `NSPinnedDomains` in a property list.
    case pinnedDomains = "nspinneddomains"
    /// Android's network security configuration, in XML.
    case android
    /// OkHttp's `CertificatePinner`, in Kotlin; Java is read, too.
    case okHttp = "okhttp"

    /// Its features beside hosts and pins.
    struct Abilities: OptionSet {
        let rawValue: Int
        static let reportMode = Abilities(rawValue: 1)
        static let carveOuts = Abilities(rawValue: 2)
        static let expiry = Abilities(rawValue: 4)
        static let positions = Abilities(rawValue: 8)
        static let reports = Abilities(rawValue: 16)
        static let addresses = Abilities(rawValue: 32)
    }

    /// The features of this form beside hosts and pins.
    var abilities: Abilities {
        switch self {
        case .trustKit: [.reportMode, .carveOuts, .expiry, .reports]
        case .pinnedDomains: [.positions]
        case .android: [.carveOuts, .expiry]
        case .okHttp: [.addresses]
        }
    }
}

extension MigratedPins {
    /// Reads a file of this form.
    ///
    /// - Throws: ``MigrationError``.
    @_spi(Tools) public init(_ bytes: [UInt8], as format: MigrationFormat) throws(MigrationError) {
        switch format {
        case .trustKit: try self.init(trustKitPropertyList: bytes)
        case .pinnedDomains: try self.init(pinnedDomainsPropertyList: bytes)
        case .android: try self.init(androidNetworkSecurityConfig: bytes)
        case .okHttp: try self.init(okHttpSource: bytes)
        }
    }
}
