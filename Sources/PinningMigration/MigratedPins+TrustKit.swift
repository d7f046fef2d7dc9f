// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

extension MigratedPins {
    /// Reads a configuration of TrustKit, in the form of `initSharedInstance(withConfiguration:)`.
    ///
    /// * `TSKExcludeSubdomainFromParentPolicy` becomes an entry with the mode `off`.
    /// * `TSKExpirationDate` is midnight UTC of that day. An unreadable one gives a warning and no expiry, as in
    ///   TrustKit (without a warning there). So an entry never expires by mistake.
    /// * Where TrustKit ends the app (a single pin, a malformed pin, an exclusion beside pins), there is a warning.
    ///
    /// - Throws: ``MigrationError`` when it has no `TSKPinnedDomains`, or no host in it.
    public init(trustKit configuration: [String: Any]) throws(MigrationError) {
        try self.init(trustKit: try ConfigurationValue(copying: configuration))
    }

    /// Reads a configuration of TrustKit.
    ///
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - isOfMacApp: Whether it is known to be that of an app for macOS, where TrustKit has another default.
    init(trustKit configuration: ConfigurationValue, ofMacApp isOfMacApp: Bool = false) throws(MigrationError) {
        var reader = TrustKitReader(isOfMacApp: isOfMacApp)
        try reader.read(configuration)
        self = try MigratedPins(reader.collector)
    }
}

/// Reads a configuration of TrustKit, key by key.
struct TrustKitReader {
    private let isOfMacApp: Bool
    /// The entries and warnings so far.
    var collector = MigrationCollector()
    private var sendsToVendor: [String] = []

    /// Begins.
    ///
    /// - Parameter isOfMacApp: Whether it is the configuration of an app for macOS.
    init(isOfMacApp: Bool) { self.isOfMacApp = isOfMacApp }

    /// Reads the whole.
    mutating func read(_ configuration: ConfigurationValue) throws(MigrationError) {
        guard case .table(let members) = configuration else {
            throw MigrationError(
                .malformed, "TrustKit's configuration must be a dictionary, but this is \(configuration.kind)",
                hint: "give the value of TSKConfiguration")
        }
        for (key, value) in members.sortedMembers where key != "TSKPinnedDomains" { self.readGlobal(key, value) }
        let exempt = "TSKIgnorePinningForUserDefinedTrustAnchors"
        if self.isOfMacApp, members[exempt] == nil {
            self.collector.warn(
                nil, exempt, .stricter,
                "TrustKit on macOS exempts anchors that users installed unless this is NO; none is exempt here")
        }
        guard let domains = members["TSKPinnedDomains"] else {
            throw MigrationError(
                .nothingPinned, "there is no TSKPinnedDomains", hint: "give the value of TSKConfiguration")
        }
        guard case .table(let domains) = domains else {
            throw MigrationError(
                .malformed, "TSKPinnedDomains must be a dictionary of hosts, but this is \(domains.kind)",
                hint: "write a host, then a dictionary with TSKPublicKeyHashes")
        }
        for (name, value) in domains.sortedMembers { try self.readDomain(name, value) }
        if let first = self.sendsToVendor.first {
            let others = self.sendsToVendor.count == 1 ? "" : " and \(self.sendsToVendor.count - 1) more"
            self.collector.warn(
                nil, "TSKDisableDefaultReportUri", .same,
                "TrustKit's default address for reports is not taken over (\(first)\(others)): nothing is sent to it")
        }
    }

    private mutating func readGlobal(_ key: String, _ value: ConfigurationValue) {
        switch key {
        case "TSKSwizzleNetworkDelegates":
            guard self.collector.flag(value, unclear: true, nil, key) else { return }
            self.collector.warn(
                nil, key, .weaker,
                "nothing is swizzled here: only connections that are made with an adapter are pinned")
        case "TSKIgnorePinningForUserDefinedTrustAnchors":
            guard self.collector.flag(value, unclear: true, nil, key) else { return }
            self.collector.warn(
                nil, key, .stricter,
                "anchors that users installed are not exempt here: a pin must match all the same")
        default:
            self.collector.warn(nil, key, .same, "unknown setting; left out")
        }
    }

    private mutating func readDomain(_ name: String, _ value: ConfigurationValue) throws(MigrationError) {
        guard let host = self.collector.host(name, "TSKPinnedDomains") else { return }
        guard case .table(let members) = value else {
            self.collector.warn(name, "TSKPinnedDomains", .weaker, "left out: \(value.kind) where a dictionary belongs")
            return
        }
        for key in members.keys.sorted() where !Self.known.contains(key) {
            self.collector.warn(name, key, .same, "unknown setting; left out")
        }
        if members["TSKPublicKeyAlgorithms"] != nil {
            self.collector.warn(
                name, "TSKPublicKeyAlgorithms", .same, "not needed: keys of every type are hashed as they stand")
        }
        var entry = PinnedDomain(host, pins: [])
        if let value = members["TSKIncludeSubdomains"] {
            entry.includeSubdomains = self.collector.flag(value, unclear: true, name, "TSKIncludeSubdomains", .stricter)
        }
        if let value = members["TSKExcludeSubdomainFromParentPolicy"],
            self.collector.flag(value, unclear: false, name, "TSKExcludeSubdomainFromParentPolicy")
        {
            entry.mode = .off
            for key in ["TSKPublicKeyHashes", "TSKEnforcePinning"] where members[key] != nil {
                self.collector.warn(name, key, .same, "means nothing beside TSKExcludeSubdomainFromParentPolicy")
            }
            return try self.collector.add(entry, written: name, "TSKPinnedDomains")
        }
        if let value = members["TSKEnforcePinning"] {
            let isEnforced = self.collector.flag(value, unclear: true, name, "TSKEnforcePinning", .stricter)
            entry.mode = isEnforced ? .enforce : .report
        }
        entry.pins = self.pins(members["TSKPublicKeyHashes"], name)
        entry.expiresAt = members["TSKExpirationDate"].flatMap { self.expiry($0, name) }
        entry.reportTo = members["TSKReportUris"].map { self.addresses($0, name) } ?? []
        let isSilent = members["TSKDisableDefaultReportUri"].map {
            self.collector.flag($0, unclear: false, name, "TSKDisableDefaultReportUri")
        }
        if isSilent != true { self.sendsToVendor.append(name) }
        try self.collector.add(entry, written: name, "TSKPublicKeyHashes")
    }

    private static let known: Set<String> = [
        "TSKPublicKeyHashes", "TSKEnforcePinning", "TSKIncludeSubdomains", "TSKExcludeSubdomainFromParentPolicy",
        "TSKReportUris", "TSKDisableDefaultReportUri", "TSKExpirationDate", "TSKPublicKeyAlgorithms",
    ]
}

/// The rules for addresses of reports outside of a list: `https`, a host, and no text that parsers read differently.
/// The rule of lists (formats.md, section 3.2) is the same, but also allows loopback addresses.
enum SecureAddress {
    /// Whether a text is such an address.
    static func isAllowed(_ text: String) -> Bool {
        let refused = Set("\"<>\\^`{|}#".utf8)
        guard text.utf8.count <= 2_048, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !refused.contains($0) }),
            text.lowercased().hasPrefix("https://")
        else { return false }
        let authority = text.dropFirst(8).prefix { $0 != "/" && $0 != "?" }
        guard !authority.contains("@") else { return false }
        let bracket = authority.hasPrefix("[") ? authority.firstIndex(of: "]") : nil
        let end = bracket.map { authority.index(after: $0) } ?? authority.firstIndex(of: ":") ?? authority.endIndex
        guard (try? HostName(String(authority[..<end]))) != nil else { return false }
        let rest = authority[end...]
        guard let colon = rest.first else { return true }
        let digits = rest.dropFirst()
        return colon == ":" && digits.count <= 5 && digits.allSatisfy { ("0"..."9").contains($0) }
            && (UInt16(digits) ?? 0) > 0
    }
}
