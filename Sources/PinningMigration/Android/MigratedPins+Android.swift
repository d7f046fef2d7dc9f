// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

extension MigratedPins {
    /// Reads Android's network security configuration (`res/xml/network_security_config.xml`), with the extension of
    /// TrustKit for Android where it is present.
    ///
    /// A `domain-config` without pins inside of the domain of another one with pins becomes an entry with the mode
    /// `off`. A nested one without a `pin-set` inherits that of the enclosing one, as on Android.
    ///
    /// - Throws: ``MigrationError``.
    @_spi(Tools) public init(androidNetworkSecurityConfig bytes: [UInt8]) throws(MigrationError) {
        let document = try XMLReader.read(bytes)
        guard document.name == "network-security-config" else {
            throw MigrationError(
                .malformed, "the root element is <\(document.name)>, not <network-security-config>",
                hint: "give res/xml/network_security_config.xml, or what android:networkSecurityConfig names")
        }
        var reader = AndroidReader()
        try reader.read(document)
        self = try MigratedPins(reader.collector)
    }
}

/// Reads a network security configuration, element by element.
struct AndroidReader {
    /// The entries and warnings so far.
    private(set) var collector = MigrationCollector()

    /// A host without pins of its own, which exempts itself from an entry of a parent domain.
    private var unpinned: [PinnedDomain] = []

    /// The settings of a `domain-config`, its own or inherited.
    private struct Rules {
        var pins: [KnownPin]?
        var expiresAt: Timestamp?
        var mode = PinnedDomain.Mode.enforce
        var reportTo: [String] = []
    }

    /// Reads the document.
    mutating func read(_ document: XMLElement) throws(MigrationError) {
        for child in document.children {
            switch child.name {
            case "domain-config": try self.readDomains(child, Rules())
            case "base-config":
                self.collector.warn(
                    nil, "base-config", .same,
                    "left out: the platform decides which anchors and what cleartext are allowed")
                // The hosts inherit them.
                for anchors in child.children where anchors.name == "trust-anchors" {
                    self.warnOfExemption(anchors, nil)
                }
            case "debug-overrides":
                self.collector.warn(
                    nil, "debug-overrides", .stricter,
                    "left out: debug builds trust no other anchors here. Give them a list of their own")
            default: self.collector.warn(nil, child.name, .same, "unknown element; left out")
            }
        }
        for entry in self.unpinned { try self.addCarveOut(entry) }
    }

    private mutating func readDomains(_ config: XMLElement, _ inherited: Rules) throws(MigrationError) {
        let domains = config.children.filter { $0.name == "domain" }
        let first = domains.first?.trimmedText
        var rules = inherited
        for child in config.children {
            switch child.name {
            case "domain", "domain-config": break
            case "pin-set": self.readPins(child, first, &rules)
            case "trustkit-config": self.readTrustKit(child, first, &rules)
            case "trust-anchors": self.warnOfAnchors(child, first)
            default: self.collector.warn(first, child.name, .same, "unknown element; left out")
            }
        }
        if let cleartext = config.attribute("cleartextTrafficPermitted") {
            let isPinned = rules.pins?.isEmpty == false
            let isPermitted = Self.isTrue(cleartext)
            self.collector.warn(
                first, "cleartextTrafficPermitted",
                isPermitted == isPinned ? (isPermitted ? .stricter : .weaker) : .same,
                "not taken over: hosts whose entry enforces get no cleartext; for all others the platform decides"
            )
        }
        if domains.isEmpty { self.collector.warn(nil, "domain-config", .same, "left out: there is no <domain> in it") }
        for domain in domains {
            let written = domain.trimmedText
            guard let host = self.collector.host(written, "domain") else { continue }
            var entry = PinnedDomain(
                host, includeSubdomains: Self.isTrue(domain.attribute("includeSubdomains")), mode: rules.mode,
                pins: rules.pins ?? [], expiresAt: rules.expiresAt, reportTo: rules.reportTo)
            if rules.pins == nil {
                entry.mode = .off
                self.unpinned.append(entry)
            } else {
                try self.collector.add(entry, written: written.lowercased(), "pin-set")
            }
        }
        for child in config.children where child.name == "domain-config" { try self.readDomains(child, rules) }
    }

    /// Whether an attribute is true: Android's tools compile these forms to the same.
    private static func isTrue(_ value: String?) -> Bool { ["true", "1"].contains(value?.lowercased()) }

    private mutating func readPins(_ set: XMLElement, _ domain: String?, _ rules: inout Rules) {
        rules.pins = []
        rules.expiresAt = nil
        for child in set.children {
            guard child.name == "pin" else {
                self.collector.warn(domain, child.name, .same, "unknown element; left out")
                continue
            }
            let digest = child.attribute("digest") ?? "none"
            guard digest == "SHA-256" else {
                self.collector.warn(domain, "pin", .stricter, "left out: the digest is \(digest), not SHA-256")
                continue
            }
            guard let pin = self.collector.pin(child.trimmedText, of: domain ?? "", "pin") else { continue }
            rules.pins?.append(KnownPin(pin))
        }
        // An empty set counts as absent on Android.
        if set.children.isEmpty { rules.pins = nil }
        guard let expiration = set.attribute("expiration") else { return }
        rules.expiresAt = Timestamp(day: expiration)
        if rules.expiresAt == nil {
            self.collector.warn(
                domain, "expiration", .stricter,
                "\"\(PrintableText.line(expiration, maximumLength: 32))\" is not yyyy-MM-dd: the entry never expires"
            )
        } else {
            self.collector.warn(
                domain, "expiration", .same, "midnight UTC here; on Android it is midnight where the device is")
        }
    }

    /// `<trustkit-config enforcePinning disableDefaultReportUri><report-uri>`, of TrustKit for Android.
    private mutating func readTrustKit(_ config: XMLElement, _ domain: String?, _ rules: inout Rules) {
        switch config.attribute("enforcePinning")?.lowercased() {
        case nil, "true": break
        case "false": rules.mode = .report
        default:
            self.collector.warn(
                domain, "enforcePinning", .stricter,
                "neither true nor false, which TrustKit takes for false: enforced here")
        }
        if !Self.isTrue(config.attribute("disableDefaultReportUri")) {
            self.collector.warn(
                domain, "disableDefaultReportUri", .same,
                "TrustKit's default address for reports is not taken over: nothing is sent to it")
        }
        rules.reportTo = []
        for child in config.children where child.name == "report-uri" {
            if SecureAddress.isAllowed(child.trimmedText), rules.reportTo.count < MigrationLimits.pins {
                rules.reportTo.append(child.trimmedText)
            } else {
                self.collector.warn(
                    domain, "report-uri", .same, "left out: reports go to https addresses with a host alone")
            }
        }
    }

    private mutating func warnOfExemption(_ anchors: XMLElement, _ domain: String?) {
        guard anchors.children.contains(where: { Self.isTrue($0.attribute("overridePins")) }) else { return }
        self.collector.warn(domain, "overridePins", .stricter, "not taken over: no anchor is exempt from pins here")
    }

    private mutating func warnOfAnchors(_ anchors: XMLElement, _ domain: String?) {
        self.warnOfExemption(anchors, domain)
        self.collector.warn(
            domain, "trust-anchors", .same, "not taken over: the platform or the app decides which anchors are trusted")
    }

    /// Adds an entry without expectations, where an entry of a parent domain would otherwise apply.
    private mutating func addCarveOut(_ entry: PinnedDomain) throws(MigrationError) {
        guard self.collector.entry(for: entry.domain) == nil else {
            return self.collector.warn(
                entry.domain.description, "domain-config", .same, "there is another one of this host, with pins")
        }
        var labels = entry.domain.description.split(separator: ".").dropFirst()
        while !labels.isEmpty {
            if let parent = try? HostName(labels.joined(separator: ".")),
                let farther = self.collector.entry(for: parent), farther.includeSubdomains
            {
                return try self.collector.add(entry, written: entry.domain.description, "domain-config")
            }
            labels.removeFirst()
        }
    }
}
