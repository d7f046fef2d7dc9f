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
            for child in document.children where child.name != "debug-overrides" { reader.read(child) }
        case "manifest":
            for child in document.children where child.attribute("usesCleartextTraffic") == "true" {
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

    private mutating func read(_ element: XMLElement) {
        let hosts = element.children.filter { $0.name == "domain" }.map(\.trimmedText)
        let name = hosts.first ?? "all hosts"
        if element.attribute("cleartextTrafficPermitted") == "true",
            !hosts.allSatisfy({ $0 == "localhost" || $0.hasPrefix("10.0.2.") || $0.hasPrefix("127.") })
                || hosts.isEmpty && element.attribute("cleartextTrafficPermitted") == "true"
        {
            self.find(
                .androidCleartext, hosts.first ?? "cleartextTrafficPermitted",
                "\(name): cleartextTrafficPermitted is true")
        }
        for child in element.children {
            switch child.name {
            case "trust-anchors": self.readAnchors(child, name)
            case "pin-set": self.readPins(child, hosts)
            case "domain-config": self.read(child)
            default: break
            }
        }
    }

    private mutating func readAnchors(_ anchors: XMLElement, _ name: String) {
        for child in anchors.children {
            if child.attribute("src") == "user" {
                self.find(.androidUserAnchors, "src=\"user\"", "\(name): certificates of the user are trusted")
            }
            if child.attribute("overridePins") == "true" {
                self.find(.androidOverridePins, "overridePins", "\(name): overridePins is true")
            }
        }
    }

    private mutating func readPins(_ set: XMLElement, _ hosts: [String]) {
        let name = hosts.first ?? "a host"
        let end = set.attribute("expiration").flatMap { self.hasCome($0) ? $0 : nil }
        if let day = end {
            self.find(.androidExpired, day, "the pins of \(name) ended on \(day)")
        }
        var digests: Set<[UInt8]> = []
        for child in set.children where child.name == "pin" {
            guard let digest = LiteralText.digest(child.trimmedText) else { continue }
            digests.insert(digest.bytes)
            self.outcome.pins.append(
                SourceFacts.PinLiteral(
                    digest: digest.bytes, line: self.text.line(with: child.trimmedText) ?? 0, host: hosts.first,
                    isNamed: true))
        }
        self.outcome.surfaces.append(
            NetworkSurface(
                "network security configuration", end == nil && !digests.isEmpty ? .pinned : .unpinned,
                in: self.text.path, line: self.text.line(with: name)))
        if digests.count == 1 { self.find(.androidOnePin, name, "\(name) has one pin") }
        for host in hosts {
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
