// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
public import Foundation

extension MigratedPins {
    /// Reads what an Info.plist says of pins: `TSKConfiguration`, `NSAppTransportSecurity.NSPinnedDomains`, or both.
    ///
    /// A host that stands in both has TrustKit's entry here. The system goes on enforcing its own for as long as it
    /// stands in the Info.plist.
    ///
    /// - Throws: ``MigrationError`` when it has neither, or one of them has no host.
    public init(infoPlist: [String: Any]) throws(MigrationError) {
        // Only what is looked for is copied: the rest may be large, and is nobody's business here.
        var parts: [String: Any] = [:]
        parts["TSKConfiguration"] = infoPlist["TSKConfiguration"]
        if let transport = infoPlist["NSAppTransportSecurity"] as? [String: Any] {
            parts["NSAppTransportSecurity"] = ["NSPinnedDomains": transport["NSPinnedDomains"]].compactMapValues { $0 }
        }
        try self.init(infoPlist: try ConfigurationValue(copying: parts))
    }

    /// Reads what the Info.plist of a bundle says of pins.
    ///
    /// - Throws: ``MigrationError``, as for a dictionary; a bundle without an Info.plist has nothing pinned.
    public init(infoPlistOf bundle: Bundle) throws(MigrationError) {
        try self.init(infoPlist: bundle.infoDictionary ?? [:])
    }

    /// Reads an Info.plist, or the parts of one that are looked for.
    init(infoPlist: ConfigurationValue) throws(MigrationError) {
        guard case .table(let members) = infoPlist else {
            throw MigrationError(
                .malformed, "an Info.plist is a dictionary, and this is \(infoPlist.kind)", hint: "give another file")
        }
        var system: ConfigurationValue?
        if case .table(let transport)? = members["NSAppTransportSecurity"] { system = transport["NSPinnedDomains"] }
        guard let trustKit = members["TSKConfiguration"] else {
            guard let system else {
                throw MigrationError(
                    .nothingPinned, "the Info.plist has neither TSKConfiguration nor NSPinnedDomains",
                    hint: "give the Info.plist of the app itself, or the dictionary that TrustKit is made with")
            }
            try self.init(pinnedDomains: system)
            return
        }
        try self.init(trustKit: trustKit)
        if let system { self.join(try MigratedPins(pinnedDomains: system)) }
    }

    /// Adds the entries of `NSPinnedDomains` for hosts that have none.
    private mutating func join(_ system: MigratedPins) {
        let known = Set(self.domains.map(\.domain))
        self.warnings += system.warnings
        for entry in system.domains {
            guard known.contains(entry.domain) else {
                self.domains.append(entry)
                continue
            }
            self.warnings.append(
                MigrationWarning(
                    domain: entry.domain.description, setting: "NSPinnedDomains", effect: .weaker,
                    message: "TrustKit has an entry of this host, which is kept; the system enforces its own for as "
                        + "long as it stands in the Info.plist"))
        }
        self.domains.sort { $0.domain.description < $1.domain.description }
    }
}
