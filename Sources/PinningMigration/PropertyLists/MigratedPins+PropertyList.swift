// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension MigratedPins {
    /// Reads a property list with a configuration of TrustKit: a whole Info.plist, or the dictionary alone.
    ///
    /// - Throws: ``MigrationError``.
    @_spi(Tools) public init(trustKitPropertyList bytes: [UInt8]) throws(MigrationError) {
        let value = try PropertyList.read(bytes)
        guard case .table(let members) = value, let configuration = members["TSKConfiguration"] else {
            try self.init(trustKit: value)
            return
        }
        try self.init(trustKit: configuration)
    }

    /// Reads a property list with `NSPinnedDomains`: a whole Info.plist, its `NSAppTransportSecurity`, or the
    /// dictionary alone.
    ///
    /// - Throws: ``MigrationError``.
    @_spi(Tools) public init(pinnedDomainsPropertyList bytes: [UInt8]) throws(MigrationError) {
        var value = try PropertyList.read(bytes)
        if case .table(let members) = value, let transport = members["NSAppTransportSecurity"] { value = transport }
        if case .table(let members) = value, let domains = members["NSPinnedDomains"] {
            try self.init(pinnedDomains: domains)
            return
        }
        // Any dictionary could be one of hosts; a whole Info.plist without pins is said to be that.
        if case .table(let members) = value,
            members.keys.contains(where: { $0.hasPrefix("CFBundle") || $0.hasPrefix("NSAllows") })
        {
            throw MigrationError(
                .nothingPinned, "there is no NSAppTransportSecurity with NSPinnedDomains in it",
                hint: "give the Info.plist of the app itself")
        }
        try self.init(pinnedDomains: value)
    }
}
