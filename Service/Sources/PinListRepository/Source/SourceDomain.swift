// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata

/// An entry as it stands in a source.
public struct SourceDomain: Hashable, Sendable {
    /// The entry, without its pins.
    var entry: PinList.Domain

    /// Its pins, in their order.
    public let pins: [SourcePin]

    /// The position of its `domain`.
    public let position: SourcePosition

    /// The host that the entry is for.
    public var host: HostName { self.entry.entry.domain }

    /// The entry, as it goes into a list.
    public var domain: PinList.Domain {
        var domain = self.entry
        domain.entry.pins = self.pins.map(\.known)
        return domain
    }

    /// Equal when what is published is.
    public static func == (left: SourceDomain, right: SourceDomain) -> Bool { left.domain == right.domain }

    /// Feeds what `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.domain) }
}

extension SourceDomain {
    private static let members = [
        "domain", "includeSubdomains", "mode", "rollout", "pins", "use", "requireIssuer", "expiresAt", "reportTo",
        "reportPerMillion", "transparency",
    ]

    /// Reads an entry, with the rules of formats.md, sections 3 and 3.2.
    init(
        _ value: YAMLValue, _ sets: inout PinSets, _ material: inout SourceMaterial
    ) throws(RepositoryError) {
        let object = try SourceObject(value, "an entry of domains", known: Self.members)
        guard let name = try object.text("domain") else {
            throw object.missing("domain", "domain: api.example.com")
        }
        let host = try HostName(of: name)
        let includeSubdomains = try object.bool("includeSubdomains")
        guard !host.isAddress || !includeSubdomains else {
            throw object.position(of: "includeSubdomains").error(
                "an IP address has no subdomains", hint: "remove includeSubdomains")
        }
        let mode = try Self.mode(object)
        var pins: [SourcePin] = []
        for value in try object.list("pins", maximum: MetadataLimits.pins) {
            pins.append(try SourcePin(value, &material))
        }
        pins += try sets.pins(of: try object.texts("use", maximum: MetadataLimits.pins))
        guard mode == .off || !pins.isEmpty else {
            throw object.position(of: "pins").error(
                "\(host) has no pin", hint: "add pins:, or write mode: off for an entry that expects nothing")
        }
        guard pins.count <= MetadataLimits.pins else {
            throw object.position(of: "use").error("\(host) has over \(MetadataLimits.pins) pins")
        }
        let requireIssuer = try object.bool("requireIssuer")
        guard !requireIssuer || Set(pins.map(\.known.position)) == [.leaf, .issuer] else {
            throw object.position(of: "requireIssuer").error(
                "requireIssuer needs a leaf pin and an issuer pin, and allows no other pin",
                hint: "write position: leaf or position: issuer at each pin of \(host)")
        }
        let entry = PinnedDomain(
            host, includeSubdomains: includeSubdomains, mode: mode, pins: [], requireIssuer: requireIssuer,
            expiresAt: try object.time("expiresAt")?.value, reportTo: try object.addresses("reportTo"),
            transparency: try TransparencyRule(in: object))
        let rollout = try object.integer("rollout", in: 0...100) ?? 100
        let share = try object.integer("reportPerMillion", in: MetadataLimits.reportPerMillion)
        self.init(
            entry: PinList.Domain(entry, rollout: Int(rollout), reportPerMillion: share), pins: pins,
            position: name.position)
    }

    /// YAML 1.1 reads `off` as false: that is meant as it was written.
    private static func mode(_ object: SourceObject) throws(RepositoryError) -> PinnedDomain.Mode {
        if let (text, isPlain, _) = try object.scalar("mode"), isPlain, text == "false" { return .off }
        return try object.choice("mode", default: PinnedDomain.Mode.enforce)
    }
}

extension TransparencyRule {
    /// The modes that an entry may write.
    private enum WrittenMode: String, CaseIterable { case off, report, enforce }

    /// Reads `transparency` of an entry; `nil` where there is none, or it is off.
    fileprivate init?(in object: SourceObject) throws(RepositoryError) {
        guard let value = object.value("transparency") else { return nil }
        let demand = try SourceObject(value, "transparency", known: ["mode", "policy"])
        let mode: WrittenMode
        // YAML 1.1 reads `off` as false: that is meant as it was written.
        if let (text, isPlain, _) = try demand.scalar("mode"), isPlain, text == "false" {
            mode = .off
        } else {
            mode = try demand.choice("mode", default: .off)
        }
        let policy: Policy? =
            try demand.text("policy") == nil ? nil : try demand.choice("policy", default: Policy.chrome)
        guard let mode = Mode(rawValue: mode.rawValue) else { return nil }
        guard let policy else {
            throw demand.missing("policy", "policy: chrome, or policy: apple")
        }
        self.init(mode, policy)
    }
}

extension SourcePin {
    /// Reads a pin of an entry or of a set.
    init(_ value: YAMLValue, _ material: inout SourceMaterial) throws(RepositoryError) {
        if case .scalar(let text, _) = value.content, !value.isEmpty {
            throw value.position.error("a pin is a mapping", hint: "write - {pin: \"\(text)\"}")
        }
        let object = try SourceObject(value, "a pin", known: SourceMaterial.members + ["position", "note"])
        let (pin, found) = try material.pin(object)
        self.position = value.position
        self.known = KnownPin(
            pin, position: try object.choice("position", default: KnownPin.Position.any),
            note: try object.text("note")?.value)
        self.isAuthority = found?.position == .issuer
        self.isAnchor = self.isAuthority && found?.isSelfIssued == true
    }
}

/// A pin of an entry, and what is known of it beyond what is published.
public struct SourcePin: Hashable, Sendable {
    /// The pin, as it is published.
    public var known: KnownPin

    /// The position in the source.
    public let position: SourcePosition

    /// Whether it is from a certificate of an authority, by a `cert:` file. `false` says nothing.
    public let isAuthority: Bool

    /// Whether it is from an authority that names itself as its issuer: an anchor.
    public let isAnchor: Bool

    /// Equal when what is published is.
    public static func == (left: SourcePin, right: SourcePin) -> Bool { left.known == right.known }

    /// Feeds what `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.known) }
}
