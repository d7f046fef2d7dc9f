// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata
@_spi(Tools) internal import PinningMigration

/// Audits an Info.plist, or entitlements.
struct InfoPropertyList {
    /// The result of an audit.
    struct Outcome {
        var findings: [AuditFinding] = []
        var surfaces: [NetworkSurface] = []
        /// The pins in it, with their hosts, for the list and for certificates.
        var pins: [SourceFacts.PinLiteral] = []
    }

    private let text: SourceText
    private let list: PinList?
    private let time: Timestamp
    private var outcome = Outcome()

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - text: The file, XML or binary.
    ///   - list: The pin list to compare with.
    ///   - time: The time of the audit.
    /// - Throws: ``MigrationError`` when it is no property list.
    static func outcome(of text: SourceText, list: PinList?, at time: Timestamp) throws(MigrationError) -> Outcome {
        guard case .table(let members) = try PropertyList.read(text.bytes) else { return Outcome() }
        var reader = InfoPropertyList(text: text, list: list, time: time)
        if case .table(let transport)? = members["NSAppTransportSecurity"] { reader.readTransport(transport) }
        if let trustKit = members["TSKConfiguration"] { reader.readTrustKit(trustKit) }
        reader.readEntitlements(members)
        return reader.outcome
    }

    private init(text: SourceText, list: PinList?, time: Timestamp) {
        self.text = text
        self.list = list
        self.time = time
    }

    private mutating func find(_ rule: AuditRule, _ keys: [String], _ message: String) {
        self.outcome.findings.append(self.text.finding(rule, line: self.text.line(ofKeys: keys), message))
    }

    // MARK: App Transport Security

    private mutating func readTransport(_ members: [String: ConfigurationValue]) {
        let path = ["NSAppTransportSecurity"]
        let switches: [(String, AuditRule)] = [
            ("NSAllowsArbitraryLoads", .arbitraryLoads), ("NSAllowsArbitraryLoadsForMedia", .arbitraryMedia),
            ("NSAllowsArbitraryLoadsInMedia", .arbitraryMedia), ("NSAllowsArbitraryLoadsInWebContent", .arbitraryWeb),
            ("NSAllowsLocalNetworking", .localNetworking),
        ]
        for (key, rule) in switches where members[key]?.boolean == true {
            self.find(rule, path + [key], "\(key) is true")
        }
        if case .table(let domains)? = members["NSExceptionDomains"] {
            let below = self.entries(below: domains, "NSIncludesSubdomains")
            for (host, value) in domains.sorted(by: { $0.key < $1.key }) {
                guard case .table(let exception) = value else { continue }
                self.readException(host, exception, below[host.lowercased()] ?? [])
            }
        }
        if let domains = members["NSPinnedDomains"] { self.readPinnedDomains(domains) }
    }

    /// Reads an exception for a host, and for those of the list below it that it covers.
    private mutating func readException(
        _ host: String, _ members: [String: ConfigurationValue], _ below: [PinnedDomain]
    ) {
        let path = ["NSExceptionDomains", host]
        var isWeaker = false
        for key in [
            "NSExceptionAllowsInsecureHTTPLoads", "NSThirdPartyExceptionAllowsInsecureHTTPLoads",
            "NSTemporaryExceptionAllowsInsecureHTTPLoads",
        ]
        where members[key]?.boolean == true {
            isWeaker = true
            // A name of the house: nothing else is reached by it.
            let isLocal = host == "localhost" || host.hasSuffix(".local")
            if !isLocal { self.find(.insecureHTTP, path + [key], "\(host): \(key) is true") }
        }
        for key in [
            "NSExceptionMinimumTLSVersion", "NSThirdPartyExceptionMinimumTLSVersion",
            "NSTemporaryExceptionMinimumTLSVersion",
        ] {
            guard case .text(let version)? = members[key], ["TLSv1.0", "TLSv1.1", "SSLv3"].contains(version) else {
                continue
            }
            isWeaker = true
            self.find(.oldTLS, path + [key], "\(host): \(key) is \(version)")
        }
        for key in [
            "NSExceptionRequiresForwardSecrecy", "NSThirdPartyExceptionRequiresForwardSecrecy",
            "NSTemporaryExceptionRequiresForwardSecrecy",
        ]
        where members[key]?.boolean == false {
            isWeaker = true
            self.find(.noForwardSecrecy, path + [key], "\(host): \(key) is false")
        }
        guard isWeaker else { return }
        if let entry = self.list?.entry(for: host) {
            self.find(.exceptionOfPinnedHost, path, "\(host) is pinned by \(entry.domain)")
        }
        for entry in below {
            self.find(
                .exceptionOfPinnedHost, path, "\(entry.domain) is pinned, and the exception for \(host) covers it")
        }
    }

    // MARK: Pins

    private mutating func readPinnedDomains(_ value: ConfigurationValue) {
        guard case .table(let domains) = value else { return }
        let rule = ApplePinnedDomains(reading: value)
        var written: [HostName: String] = [:]
        for (host, value) in domains.sorted(by: { $0.key < $1.key }) {
            guard case .table(let members) = value, let name = try? HostName(host) else { continue }
            written[name] = host
            let line = self.text.line(ofKeys: ["NSPinnedDomains", host])
            for key in ["NSPinnedLeafIdentities", "NSPinnedCAIdentities"] {
                guard case .list(let identities)? = members[key] else { continue }
                for case .table(let identity) in identities {
                    guard case .text(let text)? = identity["SPKI-SHA256-BASE64"], let digest = LiteralText.digest(text)
                    else { continue }
                    let at = self.text.line(with: text) ?? line
                    self.outcome.pins.append(
                        SourceFacts.PinLiteral(digest: digest.bytes, line: at ?? 0, host: host, isNamed: true))
                }
            }
            guard rule.isPinned(name) else { continue }
            self.outcome.surfaces.append(NetworkSurface("NSPinnedDomains", .pinned, in: self.text.path, line: line))
        }
        for union in rule.unions {
            self.find(
                .pinnedDomainsUnion, ["NSPinnedDomains", written[union.host] ?? ""],
                union.isStricter
                    ? "\(union.host): a pin of \(union.parent)'s \(union.array) must match, too"
                    : "\(union.host): the pins of \(union.parent)'s \(union.array) match, too")
        }
        // Also the hosts that the list has and an entry here covers.
        let hosts = Set(written.keys).union(self.list?.domains.map(\.entry.domain) ?? [])
        for host in hosts.sorted(by: { $0.description < $1.description }) {
            guard let digests = rule.digests(for: host) else { continue }
            self.compare(
                host.description, digests, .pinnedDomainsDiffer,
                self.text.line(ofKeys: ["NSPinnedDomains", written[host] ?? ""]))
        }
    }

    /// The entries of the list below the hosts of a configuration, by the host that covers them.
    ///
    /// - Parameter key: What says that a host covers those below it.
    private func entries(below domains: [String: ConfigurationValue], _ key: String) -> [String: [PinnedDomain]] {
        var names: [String: Bool] = [:]
        for (host, value) in domains {
            guard case .table(let members) = value else { continue }
            let name = host.lowercased()
            names[name] = names[name] == true || members[key]?.boolean == true
        }
        return self.list?.entries(below: names) ?? [:]
    }

    private mutating func compare(_ host: String, _ digests: Set<[UInt8]>, _ rule: AuditRule, _ line: Int?) {
        guard let entry = self.list?.entry(for: host) else { return }
        let wanted = Set(entry.pins.map(\.pin.digest))
        guard wanted != digests else { return }
        self.outcome.findings.append(
            self.text.finding(
                rule, line: line,
                "\(host): \(digests.count) pins here, \(wanted.count) in the list, \(wanted.intersection(digests).count) of them the same"
            ))
    }

    private mutating func readTrustKit(_ value: ConfigurationValue) {
        guard case .table(let members) = value else { return }
        if members["TSKSwizzleNetworkDelegates"]?.boolean == true {
            self.find(.trustKitSwizzling, ["TSKSwizzleNetworkDelegates"], "TSKSwizzleNetworkDelegates is true")
        }
        guard case .table(let domains)? = members["TSKPinnedDomains"] else { return }
        self.outcome.surfaces.append(
            NetworkSurface("TrustKit", .pinned, in: self.text.path, line: self.text.line(ofKeys: ["TSKPinnedDomains"])))
        let below = self.entries(below: domains, "TSKIncludeSubdomains")
        for (host, value) in domains.sorted(by: { $0.key < $1.key }) {
            guard case .table(let members) = value else { continue }
            let path = ["TSKPinnedDomains", host]
            let hosts = [host] + (below[host.lowercased()] ?? []).map(\.domain.description)
            if members["TSKExcludeSubdomainFromParentPolicy"]?.boolean == true {
                for host in hosts { self.compare(host, [], .trustKitDiffers, self.text.line(ofKeys: path)) }
                continue
            }
            // TrustKit takes a text that says neither YES nor NO for NO.
            if let value = members["TSKEnforcePinning"], value.boolean != true {
                let said = value.boolean == nil ? "neither true nor false" : "false"
                self.find(.trustKitNotEnforced, path + ["TSKEnforcePinning"], "\(host): TSKEnforcePinning is \(said)")
            }
            if let end = self.end(members["TSKExpirationDate"]) {
                self.find(.trustKitExpired, path + ["TSKExpirationDate"], "the pins of \(host) ended on \(end)")
            }
            guard case .list(let hashes)? = members["TSKPublicKeyHashes"] else { continue }
            var digests: Set<[UInt8]> = []
            for case .text(let text) in hashes {
                guard let digest = LiteralText.digest(text) else {
                    self.find(
                        .trustKitUnreadable, path + ["TSKPublicKeyHashes"], "\(host): a hash is not 32 bytes in Base64")
                    continue
                }
                digests.insert(digest.bytes)
                self.outcome.pins.append(
                    SourceFacts.PinLiteral(
                        digest: digest.bytes, line: self.text.line(with: text) ?? 0, host: host, isNamed: true))
            }
            for host in hosts { self.compare(host, digests, .trustKitDiffers, self.text.line(ofKeys: path)) }
            if digests.count < 2 {
                self.find(.trustKitOnePin, path + ["TSKPublicKeyHashes"], "\(host) has \(digests.count) pin")
            }
        }
    }

    /// The day or the time at which the pins of a host ended, where that has come; a day ends them when it begins.
    private func end(_ value: ConfigurationValue?) -> String? {
        switch value {
        case .text(let day)? where day <= String(self.time.description.prefix(10)): day
        case .date(let time)? where time <= self.time: time.description
        default: nil
        }
    }

    // MARK: Entitlements

    private mutating func readEntitlements(_ members: [String: ConfigurationValue]) {
        for key in [
            "com.apple.security.cs.disable-library-validation",
            "com.apple.security.cs.allow-dyld-environment-variables",
        ]
        where members[key]?.boolean == true {
            self.find(.weakenedCode, [key], key)
        }
        if members["com.apple.developer.networking.networkextension"] != nil {
            self.find(
                .networkExtension, ["com.apple.developer.networking.networkextension"],
                "com.apple.developer.networking.networkextension")
        }
    }
}

extension PinList {
    /// The entry that decides for a host: the nearest one, when it is enforced.
    func entry(for host: String) -> PinnedDomain? {
        guard let host = try? HostName(host) else { return nil }
        if let exact = self.domains.first(where: { $0.entry.domain == host }) {
            return exact.entry.mode == .off ? nil : exact.entry
        }
        let nearest = self.domains.filter {
            $0.entry.includeSubdomains && host.description.hasSuffix("." + $0.entry.domain.description)
        }
        .max { $0.entry.domain.description.count < $1.entry.domain.description.count }
        return nearest.flatMap { $0.entry.mode == .off ? nil : $0.entry }
    }

    /// The enforced entries below the names of a configuration, by the name that decides for each: the nearest one that
    /// covers subdomains. What has a name of its own is decided by that.
    ///
    /// - Parameter names: The names in lower case, and whether each covers subdomains.
    func entries(below names: [String: Bool]) -> [String: [PinnedDomain]] {
        var entries: [String: [PinnedDomain]] = [:]
        for entry in self.domains.map(\.entry) where entry.mode != .off {
            var name = entry.domain.description
            guard names[name] == nil else { continue }
            while let dot = name.firstIndex(of: ".") {
                name = String(name[dot...].dropFirst())
                guard names[name] == true else { continue }
                entries[name, default: []].append(entry)
                break
            }
        }
        return entries
    }

    /// The digests of all pins.
    var digests: Set<[UInt8]> { Set(self.domains.flatMap { $0.entry.pins.map(\.pin.digest) }) }
}
