// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
@_spi(Tools) import PinningMigration

/// Checks what must hold of everything that another tool's configuration was read from.
private func check(_ bytes: [UInt8], as format: MigrationFormat) {
    guard let migrated = try? MigratedPins(bytes, as: format) else { return }
    precondition(!migrated.domains.isEmpty && migrated.domains.count <= MigrationLimits.domains)
    precondition(Set(migrated.domains.map(\.domain)).count == migrated.domains.count)
    precondition(migrated.domains.allSatisfy { $0.pins.count <= MigrationLimits.pins })
    precondition(migrated.warnings.count <= MigrationLimits.warnings + 1)
    precondition((try? migrated.policy()) != nil)
    // The written form is read again, in every form, with the same hosts.
    for other in MigrationFormat.allCases {
        let written = WrittenConfiguration(MigratedRules(domains: migrated.domains), as: other)
        let again = try? MigratedPins(Array(written.text.utf8), as: other)
        precondition(written.hostCount == 0 || again != nil)
        precondition((again?.domains.count { $0.mode != .off } ?? 0) == written.hostCount)
    }
}

/// Android's network security configuration.
enum AndroidConfigurationText: FuzzTarget {
    static let name = "android-config"

    static func check(_ bytes: [UInt8]) { fuzz_tumbler.check(bytes, as: .android) }
}

/// Kotlin or Java with OkHttp's pins.
enum OkHttpSourceText: FuzzTarget {
    static let name = "okhttp-source"

    static func check(_ bytes: [UInt8]) { fuzz_tumbler.check(bytes, as: .okHttp) }
}

/// Property lists, XML and binary, of TrustKit and of NSPinnedDomains.
enum PropertyListBytes: FuzzTarget {
    static let name = "property-list"

    static func check(_ bytes: [UInt8]) {
        fuzz_tumbler.check(bytes, as: .trustKit)
        fuzz_tumbler.check(bytes, as: .pinnedDomains)
    }
}
