// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

extension SourceDomain {
    private static let members = [
        "domain", "includeSubdomains", "mode", "rollout", "pins", "use", "requireIssuer", "expiresAt", "reportTo",
        "reportPerMillion",
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
        for value in try object.list("pins", most: MetadataLimits.pins) {
            pins.append(try SourcePin(value, &material))
        }
        pins += try sets.pins(of: try object.texts("use", most: MetadataLimits.pins))
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
                "requireIssuer asks for a leaf and an issuer pin, and for no other",
                hint: "write position: leaf or position: issuer at each pin of \(host)")
        }
        let entry = PinnedDomain(
            host, includeSubdomains: includeSubdomains, mode: mode, pins: [], requireIssuer: requireIssuer,
            expiresAt: try object.time("expiresAt")?.value, reportTo: try object.addresses("reportTo"))
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
