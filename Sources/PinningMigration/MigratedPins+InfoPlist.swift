// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
public import Foundation

extension MigratedPins {
    /// Reads the pins of an Info.plist: `TSKConfiguration`, `NSAppTransportSecurity.NSPinnedDomains`, or both.
    ///
    /// A host in both gets TrustKit's entry here. The system enforces its own for as long as it is in the Info.plist.
    ///
    /// - Throws: ``MigrationError`` when it has neither, or one of them has no host.
    public init(infoPlist: [String: Any]) throws(MigrationError) {
        // Only the needed members are copied: the rest may be large.
        var parts: [String: Any] = [:]
        for key in ["TSKConfiguration", Self.keyOfMacApps] { parts[key] = infoPlist[key] }
        if let transport = infoPlist["NSAppTransportSecurity"] as? [String: Any] {
            parts["NSAppTransportSecurity"] = ["NSPinnedDomains": transport["NSPinnedDomains"]].compactMapValues { $0 }
        }
        try self.init(infoPlist: try ConfigurationValue(copying: parts))
    }

    /// Reads the pins of a bundle's Info.plist.
    ///
    /// - Throws: ``MigrationError``, as for a dictionary; a bundle without an Info.plist has no pins.
    public init(infoPlistOf bundle: Bundle) throws(MigrationError) {
        try self.init(infoPlist: bundle.infoDictionary ?? [:])
    }

    /// The member that the Info.plist of an app for macOS has.
    static let keyOfMacApps = "LSMinimumSystemVersion"

    /// Reads an Info.plist, or the needed parts of one.
    init(infoPlist: ConfigurationValue) throws(MigrationError) {
        guard case .table(let members) = infoPlist else {
            throw MigrationError(
                .malformed, "an Info.plist must be a dictionary, but this is \(infoPlist.kind)",
                hint: "give another file")
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
        try self.init(trustKit: trustKit, ofMacApp: members[Self.keyOfMacApps] != nil)
        if let system {
            self.join(try MigratedPins(pinnedDomains: system), of: ApplePinnedDomains(reading: system))
        }
    }

    /// Adds the entries of `NSPinnedDomains` for hosts that have none. Both tools evaluate a host by their own entries,
    /// also by that of a farther host; here the nearest entry alone decides.
    private mutating func join(_ system: MigratedPins, of apple: ApplePinnedDomains) {
        let known = Set(self.domains.map(\.domain))
        let others = Set(system.domains.map(\.domain))
        let trustKit = try? self.policy()
        self.warnings += system.warnings
        for entry in self.domains where !others.contains(entry.domain) && apple.isPinned(entry.domain) {
            self.warnings.append(
                MigrationWarning(
                    domain: entry.domain.description, setting: "NSPinnedDomains", effect: .weaker,
                    message: "the system enforces the pins of a farther host as well, for as long as they stand in the "
                        + "Info.plist; here TrustKit's entry alone decides"))
        }
        for entry in system.domains {
            guard known.contains(entry.domain) else {
                self.domains.append(entry)
                if let farther = trustKit?.entry(for: entry.domain), farther.mode != .off {
                    self.warnings.append(
                        MigrationWarning(
                            domain: entry.domain.description, setting: "TSKPinnedDomains", effect: .weaker,
                            message: "TrustKit demands a pin of \(farther.domain) as well; here the nearest entry, "
                                + "that of NSPinnedDomains, alone decides"))
                }
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
