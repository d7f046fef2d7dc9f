// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata
@_spi(Tools) internal import PinningMigration

/// Audits an Android network_security_config.xml, or a manifest.
struct AndroidConfiguration {
    private let text: SourceText
    private let list: PinList?
    private let today: String
    /// The entries of the list below the domains, by the domain that covers them.
    private var below: [String: [PinnedDomain]] = [:]
    private var outcome = InfoPropertyList.Outcome()

    /// Reads a file.
    ///
    /// - Throws: ``MigrationError`` when it is no XML.
    static func outcome(of text: SourceText, list: PinList?, at time: Timestamp) throws(MigrationError)
        -> InfoPropertyList.Outcome
    {
        let document = try XMLReader.read(text.bytes)
        var reader = AndroidConfiguration(text: text, list: list, today: String(time.description.prefix(10)))
        switch document.name {
        case "network-security-config":
            // The base may stand behind those that inherit from it. debug-overrides, whose anchors have overridePins by
            // default, is of debuggable builds alone: it adds nothing here.
            let bases = document.children.filter { $0.name == "base-config" }
            let base = bases.reduce(Settings()) { $0.settings(of: $1) }
            reader.below = list?.entries(below: Self.names(in: document)) ?? [:]
            for child in bases { reader.read(child, within: Settings()) }
            for child in document.children where child.name == "domain-config" { reader.read(child, within: base) }
        case "manifest":
            for child in document.children where Self.isTrue(child, "usesCleartextTraffic") {
                reader.find(.androidCleartext, "usesCleartextTraffic", "usesCleartextTraffic is true")
            }
        default: break
        }
        return reader.outcome
    }

    private init(text: SourceText, list: PinList?, today: String) {
        self.text = text
        self.list = list
        self.today = today
    }

    private mutating func find(_ rule: AuditRule, _ words: String, _ message: String) {
        self.outcome.findings.append(self.text.finding(rule, line: self.text.line(with: words), message))
    }

    /// The parts of a configuration that those within it have, too, unless they have parts of their own.
    private struct Settings {
        /// Whether an anchor is exempt from pins.
        var overridesPins = false
        /// The pin-set of a domain.
        var pins: XMLElement?

        /// The settings of an element within this one.
        func settings(of element: XMLElement) -> Settings {
            var settings = self
            for child in element.children {
                if child.name == "trust-anchors" {
                    settings.overridesPins = child.children.contains {
                        AndroidConfiguration.isTrue($0, "overridePins")
                    }
                }
                if child.name == "pin-set", element.name == "domain-config" { settings.pins = child }
            }
            return settings
        }
    }

    /// Whether an attribute is true, in one of the ways in which Android writes that.
    private static func isTrue(_ element: XMLElement, _ name: String) -> Bool {
        ["true", "1"].contains(element.attribute(name)?.lowercased())
    }

    /// The domains of an element in lower case, and whether each covers subdomains.
    private static func names(in element: XMLElement) -> [String: Bool] {
        var names: [String: Bool] = [:]
        for child in element.children {
            if child.name == "domain" {
                names[child.trimmedText.lowercased()] = Self.isTrue(child, "includeSubdomains")
            }
            if child.name == "domain-config" { names.merge(Self.names(in: child)) { $0 || $1 } }
        }
        return names
    }

    private mutating func read(_ element: XMLElement, within outer: Settings) {
        let settings = outer.settings(of: element)
        let hosts = element.children.filter { $0.name == "domain" }.map(\.trimmedText)
        let name = hosts.first ?? "all hosts"
        if Self.isTrue(element, "cleartextTrafficPermitted"),
            hosts.isEmpty
                || !hosts.allSatisfy({ $0 == "localhost" || $0.hasPrefix("10.0.2.") || $0.hasPrefix("127.") })
        {
            self.find(
                .androidCleartext, hosts.first ?? "cleartextTrafficPermitted",
                "\(name): cleartextTrafficPermitted is true")
        }
        let anchors = element.children.filter { $0.name == "trust-anchors" }
        for child in anchors { self.readAnchors(child, name) }
        if let pins = settings.pins {
            let isOwn = element.children.contains { $0.name == "pin-set" }
            if settings.overridesPins, anchors.isEmpty {
                self.find(.androidOverridePins, name, "\(name): the trust anchors that it inherits have overridePins")
            }
            self.readPins(pins, hosts, isOwn: isOwn, isOverridden: settings.overridesPins)
        }
        for child in element.children where child.name == "domain-config" { self.read(child, within: settings) }
    }

    private mutating func readAnchors(_ anchors: XMLElement, _ name: String) {
        for child in anchors.children {
            if child.attribute("src") == "user" {
                self.find(.androidUserAnchors, "src=\"user\"", "\(name): certificates of the user are trusted")
            }
            if Self.isTrue(child, "overridePins") {
                self.find(.androidOverridePins, "overridePins", "\(name): overridePins is true")
            }
        }
    }

    /// Reads the pins of hosts: what is to be said of the pins themselves is said where they stand.
    private mutating func readPins(_ set: XMLElement, _ hosts: [String], isOwn: Bool, isOverridden: Bool) {
        let name = hosts.first ?? "a host"
        let end = set.attribute("expiration").flatMap { self.hasCome($0) ? $0 : nil }
        if let day = end, isOwn { self.find(.androidExpired, day, "the pins of \(name) ended on \(day)") }
        var digests: Set<[UInt8]> = []
        for child in set.children where child.name == "pin" {
            guard let digest = LiteralText.digest(child.trimmedText) else { continue }
            digests.insert(digest.bytes)
            guard isOwn else { continue }
            self.outcome.pins.append(
                SourceFacts.PinLiteral(
                    digest: digest.bytes, line: self.text.line(with: child.trimmedText) ?? 0, host: hosts.first,
                    isNamed: true))
        }
        self.outcome.surfaces.append(
            NetworkSurface(
                "network security configuration",
                end == nil && !digests.isEmpty && !isOverridden ? .pinned : .unpinned,
                in: self.text.path, line: self.text.line(with: name)))
        if digests.count == 1, isOwn { self.find(.androidOnePin, name, "\(name) has one pin") }
        for host in hosts + hosts.flatMap({ self.below[$0.lowercased()] ?? [] }).map(\.domain.description) {
            guard let entry = self.list?.entry(for: host) else { continue }
            let wanted = Set(entry.pins.map(\.pin.digest))
            if wanted != digests {
                self.find(
                    .androidDiffers, host,
                    "\(host): \(digests.count) pins here, \(wanted.count) in the list, \(wanted.intersection(digests).count) of them the same"
                )
            }
        }
    }

    /// Whether a day has come, on which pins end: also one like `2026-9-1`, which Android reads, and one that cannot be read.
    private func hasCome(_ day: String) -> Bool {
        func numbers(_ day: String) -> [Int] { day.split(separator: "-").compactMap { Int($0) } }
        return !numbers(self.today).lexicographicallyPrecedes(numbers(day))
    }
}
