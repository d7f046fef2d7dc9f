// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

extension PinList {
    /// The list as the bytes that are signed. Members that have their default value are left out, but for `mode`.
    public var payload: [UInt8] {
        let header = MetadataHeader(
            name: self.name, version: self.version, issuedAt: self.issuedAt, expiresAt: self.expiresAt)
        var members = header.members(of: .pins)
        members.append(.init("refreshAfter", .integer(self.refreshAfter)))
        if !self.reportTo.isEmpty { members.append(.init("reportTo", Self.strings(self.reportTo))) }
        if self.reportPerMillion != MetadataLimits.reportPerMillion.upperBound {
            members.append(.init("reportPerMillion", .integer(self.reportPerMillion)))
        }
        if let logs = self.logs {
            members.append(
                .init(
                    "logs",
                    .object([
                        .init("sha256", .string(logs.digest)), .init("length", .integer(Int64(logs.length))),
                    ])))
        }
        members.append(.init("domains", .array(self.domains.map { Self.value(of: $0) })))
        if !self.denied.isEmpty { members.append(.init("denied", .array(self.denied.map { Self.value(of: $0) }))) }
        if !self.revoked.isEmpty { members.append(.init("revoked", .array(self.revoked.map { Self.value(of: $0) }))) }
        if !self.suspended.isEmpty {
            members.append(.init("suspended", .array(self.suspended.map { Self.value(of: $0) })))
        }
        members.append(.init("unlisted", .string(self.unlisted.rawValue)))
        return JSONValue.object(members).bytes
    }

    private static func strings(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }

    private static func value(of domain: Domain) -> JSONValue {
        let entry = domain.entry
        var members: [JSONValue.Member] = [.init("domain", .string(entry.domain.description))]
        if entry.includeSubdomains { members.append(.init("includeSubdomains", .bool(true))) }
        members.append(.init("mode", .string(entry.mode.rawValue)))
        if domain.rollout != 100 { members.append(.init("rollout", .integer(Int64(domain.rollout)))) }
        if !entry.pins.isEmpty { members.append(.init("pins", .array(entry.pins.map { self.value(of: $0) }))) }
        if entry.requireIssuer { members.append(.init("requireIssuer", .bool(true))) }
        if let expiresAt = entry.expiresAt { members.append(.init("expiresAt", .string(expiresAt.description))) }
        if !entry.reportTo.isEmpty { members.append(.init("reportTo", self.strings(entry.reportTo))) }
        if let share = domain.reportPerMillion { members.append(.init("reportPerMillion", .integer(share))) }
        if let rule = entry.transparency {
            members.append(
                .init(
                    "transparency",
                    .object([
                        .init("mode", .string(rule.mode.rawValue)), .init("policy", .string(rule.policy.rawValue)),
                    ])))
        }
        return .object(members)
    }

    private static func value(of known: KnownPin) -> JSONValue {
        var members: [JSONValue.Member] = [.init("pin", .string(known.pin.description))]
        if known.position != .any { members.append(.init("position", .string(known.position.rawValue))) }
        if let note = known.note { members.append(.init("note", .string(note))) }
        return .object(members)
    }

    private static func value(of denied: DeniedKey) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("pin", .string(denied.pin.description)),
            .init("mode", .string(denied.isEnforced ? "enforce" : "report")),
        ]
        if let note = denied.note { members.append(.init("note", .string(note))) }
        return .object(members)
    }

    private static func value(of revoked: RevokedCertificates) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("issuer", .string(revoked.issuer.description)),
            .init("serials", self.strings(revoked.serials.map(\.description))),
        ]
        if !revoked.isEnforced { members.append(.init("mode", .string("report"))) }
        if let note = revoked.note { members.append(.init("note", .string(note))) }
        return .object(members)
    }

    private static func value(of suspension: Suspension) -> JSONValue {
        .object([
            .init("domain", .string(suspension.scope.description)),
            .init("until", .string(suspension.until.description)), .init("reason", .string(suspension.reason)),
        ])
    }
}
