// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

extension PinList {
    /// Reads a payload. It must have been verified, or be the reader's own.
    ///
    /// - Throws: ``MetadataError``: `malformed` or `wrong-type`.
    public init(payload: [UInt8]) throws(MetadataError) {
        var object = try MetadataObject(parsing: payload, of: .pins)
        let header = try MetadataHeader(&object)
        let domains = try object.objects("domains", maximum: MetadataLimits.domains) {
            (domain: inout MetadataObject) throws(MetadataError) in try Self.domain(&domain)
        }
        let logs = try object.optionalObject("logs") { (logs: inout MetadataObject) throws(MetadataError) in
            try Self.logs(&logs)
        }
        let (denied, unusableDenied) = try Self.denied(&object)
        let (revoked, unusableRevoked) = try Self.revoked(&object)
        self.init(
            name: header.name, version: header.version, issuedAt: header.issuedAt, expiresAt: header.expiresAt,
            refreshAfter: try object.integer("refreshAfter", in: 0...MetadataLimits.version, default: 43_200),
            reportTo: try Self.reportTo(&object),
            reportPerMillion: try Self.reportPerMillion(&object) ?? MetadataLimits.reportPerMillion.upperBound,
            logs: logs, domains: domains, denied: denied, revoked: revoked,
            suspended: try object.objects("suspended", maximum: MetadataLimits.suspended, required: false) {
                (suspension: inout MetadataObject) throws(MetadataError) in
                try Self.suspension(&suspension, issuedAt: header.issuedAt)
            },
            unlisted: try object.choice("unlisted", default: .allow))
        self.unusableDenied = unusableDenied
        self.unusableRevoked = unusableRevoked
        object.finish()
        self.unknownMembers = object.unknown

        var seen = Set<HostName>()
        for (index, domain) in domains.enumerated() where !seen.insert(domain.entry.domain).inserted {
            throw object.malformed("domains[\(index)].domain", "occurs twice: \(domain.entry.domain)")
        }
    }

    private static func domain(_ object: inout MetadataObject) throws(MetadataError) -> Domain {
        let host = try self.host("domain", &object)
        let includeSubdomains = try object.bool("includeSubdomains", default: false)
        guard !host.isAddress || !includeSubdomains else {
            throw object.malformed("includeSubdomains", "is true for an IP address")
        }
        let mode = try object.choice("mode", default: PinnedDomain.Mode.enforce)
        let rollout = try object.integer("rollout", in: 0...100, default: 100)
        let requireIssuer = try object.bool("requireIssuer", default: false)
        let values = try object.objects("pins", maximum: MetadataLimits.pins, required: false) {
            (pin: inout MetadataObject) throws(MetadataError) in try self.knownPin(&pin)
        }
        guard mode == .off || !values.isEmpty else { throw object.malformed("pins", "has no pin") }
        if requireIssuer {
            // Also by pins of a form to come: an entry whose leaf pin cannot be read here blocks, and the list is good.
            let positions = Set(values.compactMap(\.position))
            guard positions == [.leaf, .issuer] else {
                throw object.malformed(
                    "requireIssuer", "needs a leaf pin and an issuer pin, and allows no pin of any position")
            }
        }
        let pins = values.compactMap(\.known)
        let demand = try object.optionalObject("transparency") {
            (demand: inout MetadataObject) throws(MetadataError) in try self.transparency(&demand)
        }
        let entry = PinnedDomain(
            host, includeSubdomains: includeSubdomains, mode: mode, pins: pins, requireIssuer: requireIssuer,
            expiresAt: try object.optionalTimestamp("expiresAt"), reportTo: try self.reportTo(&object),
            transparency: demand?.rule)
        var domain = Domain(
            entry, rollout: Int(rollout), unusablePins: values.count - pins.count,
            reportPerMillion: try self.reportPerMillion(&object))
        domain.hasUnknownTransparency = demand?.isUnknown ?? false
        return domain
    }

    /// The entry's demand on Certificate Transparency. An unknown mode or policy of a later version demands nothing
    /// here.
    private static func transparency(
        _ object: inout MetadataObject
    ) throws(MetadataError) -> (rule: TransparencyRule?, isUnknown: Bool) {
        let mode = try object.optionalString("mode") ?? "off"
        let policy = try object.optionalString("policy")
        if mode == "off" { return (nil, false) }
        guard let mode = TransparencyRule.Mode(rawValue: mode) else { return (nil, true) }
        guard let policy else { throw object.malformed("policy", "is missing") }
        guard let policy = TransparencyRule.Policy(rawValue: policy) else { return (nil, true) }
        return (TransparencyRule(mode, policy), false)
    }

    private static func logs(_ object: inout MetadataObject) throws(MetadataError) -> ListedLogs {
        let digest = try object.string("sha256")
        guard ListedLogs.isDigest(digest) else {
            throw object.malformed("sha256", "is not a SHA-256 in 64 digits of lower-case hex")
        }
        let length = try object.integer("length", in: ListedLogs.lengths)
        guard let logs = ListedLogs(digest: digest, length: length) else {
            throw object.malformed("length", "is not the length of a log list")
        }
        return logs
    }

    /// The number of installations in a million that report; `nil` where the list does not say.
    private static func reportPerMillion(_ object: inout MetadataObject) throws(MetadataError) -> Int64? {
        try object.optionalInteger("reportPerMillion", in: MetadataLimits.reportPerMillion)
    }

    private static func host(_ name: String, _ object: inout MetadataObject) throws(MetadataError) -> HostName {
        do { return try HostName(try object.string(name)) } catch let error as InputError {
            throw object.malformed(name, "is not a host: \(error.reason)")
        } catch let error as MetadataError {
            throw error
        } catch {
            throw object.malformed(name, "is not a host")
        }
    }

    /// Reads a pin and its position; `nil` for a form or a position that this version does not know.
    private static func knownPin(
        _ object: inout MetadataObject
    ) throws(MetadataError) -> (known: KnownPin?, position: KnownPin.Position?) {
        let pin = try self.pin(try object.string("pin"), &object)
        let text = try object.optionalString("position")
        let position = text.map { KnownPin.Position(rawValue: $0) } ?? .any
        let note = try object.optionalString("note")
        guard let pin, let position else { return (nil, position) }
        return (KnownPin(pin, position: position, note: note), position)
    }

    /// Reads a pin; `nil` for a form other than the two known ones.
    private static func pin(_ text: String, _ object: inout MetadataObject) throws(MetadataError) -> Pin? {
        guard text.utf8.starts(with: "sha256/".utf8) || text.utf8.starts(with: "cert-sha256/".utf8) else { return nil }
        do { return try Pin(canonical: text) } catch { throw object.malformed("pin", "is not a pin: \(error.reason)") }
    }

    private static func denied(
        _ object: inout MetadataObject
    ) throws(MetadataError) -> (keys: [DeniedKey], unusable: Int) {
        // A bare string is an enforcing entry.
        let values = try object.array("denied", maximum: MetadataLimits.denied).map { value in
            if case .string = value { return JSONValue.object([.init("pin", value)]) }
            return value
        }
        let keys = try object.objects("denied", values) {
            (key: inout MetadataObject) throws(MetadataError) -> DeniedKey? in
            let pin = try self.pin(try key.string("pin"), &key)
            let mode = try key.choice("mode", default: DeniedMode.enforce)
            let note = try key.optionalString("note")
            return pin.map { DeniedKey($0, isEnforced: mode == .enforce, note: note) }
        }
        return (keys.compactMap { $0 }, keys.count { $0 == nil })
    }

    /// The effect on a path with a denied key.
    private enum DeniedMode: String { case enforce, report }

    private static func suspension(
        _ object: inout MetadataObject, issuedAt: Timestamp
    ) throws(MetadataError) -> Suspension {
        let domain = try object.string("domain")
        let scope: Suspension.Scope
        if domain == "*" {
            scope = .everything
        } else {
            do { scope = .entry(try HostName(domain)) } catch {
                throw object.malformed("domain", "is neither * nor a host: \(error.reason)")
            }
        }
        let until = try object.timestamp("until")
        let length = until.secondsSince1970 - issuedAt.secondsSince1970
        guard (1...MetadataLimits.suspensionSeconds).contains(length) else {
            throw object.malformed("until", "is not after issuedAt, or more than 7 days after it")
        }
        return Suspension(scope, until: until, reason: try object.string("reason"))
    }

    private static func reportTo(_ object: inout MetadataObject) throws(MetadataError) -> [String] {
        let addresses = try object.strings("reportTo", maximum: .max)
        for address in addresses {
            guard ReportAddress.isAllowed(address) else {
                throw object.malformed("reportTo", "is not an https URL (http is for loopback alone)")
            }
        }
        return addresses
    }
}
