// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

extension HostName {
    /// The host of a text, with A-labels in place of U-labels.
    ///
    /// - Throws: ``RepositoryError`` with the place.
    init(of text: Located<String>) throws(RepositoryError) {
        guard let ascii = InternationalName.ascii(text.value) else {
            throw text.position.error(
                "not a host: an internationalised name that UTS 46 does not allow, or that is not converted here",
                hint: "write its A-label (xn--…)")
        }
        do { self = try HostName(ascii) } catch {
            throw text.position.error(
                "not a host: \(error.reason)",
                hint: text.value.contains("*")
                    ? "write the domain alone, and includeSubdomains: true" : "write a name such as api.example.com")
        }
    }
}

extension DeniedKey {
    /// Reads an element of `denied`: a mapping, or a pin alone, which is an enforcing entry.
    static func located(
        _ value: YAMLValue, _ material: inout SourceMaterial
    ) throws(RepositoryError) -> Located<DeniedKey> {
        if case .scalar(let text, _) = value.content, !value.isEmpty {
            let pin = try Self.key(try SourceMaterial.pin(Located(text, value.position)), at: value.position)
            return Located(DeniedKey(pin), value.position)
        }
        let object = try SourceObject(value, "a denied key", known: SourceMaterial.members + ["mode", "note"])
        let pin = try Self.key(try material.pin(object).pin, at: value.position)
        let mode = try object.choice("mode", default: DeniedMode.enforce)
        let key = DeniedKey(pin, isEnforced: mode == .enforce, note: try object.text("note")?.value)
        return Located(key, value.position)
    }
}

/// Checks of the pins of a deny set.
extension DeniedKey {
    /// Reads a pin for a deny set. Certificate hashes are refused: a holder of a certificate can re-encode it, with
    /// another hash and a signature that still holds (an ECDSA s negated).
    private static func key(_ pin: Pin, at position: SourcePosition) throws(RepositoryError) -> Pin {
        guard pin.kind == .publicKey else {
            throw position.error(
                "the hash of a certificate denies nothing: \(LintRule.deniedCertificate.reason)",
                hint: LintRule.deniedCertificate.fix)
        }
        return pin
    }
}

private enum DeniedMode: String, CaseIterable { case enforce, report }

extension RevokedCertificates {
    /// Reads an element of `revoked`.
    ///
    /// - Parameters:
    ///   - value: The element.
    ///   - seen: The serial numbers of each issuer so far: none may be there twice.
    static func located(
        _ value: YAMLValue, _ seen: inout [Pin: Set<SerialNumber>]
    ) throws(RepositoryError) -> Located<RevokedCertificates> {
        let object = try SourceObject(
            value, "an entry of revoked", known: ["issuer", "serials", "mode", "note"])
        guard let issuer = try object.text("issuer") else { throw object.missing("issuer", "issuer: sha256/…") }
        let pin = try SourceMaterial.pin(issuer)
        guard pin.kind == .publicKey else {
            throw issuer.position.error(
                "issuer is the pin of a certificate, and not of a key", hint: "tumbler pin FILE prints sha256/…")
        }
        guard object.value("serials") != nil else { throw object.missing("serials", "serials: [\"0a1b\"]") }
        var serials: [SerialNumber] = []
        for text in try object.texts("serials", maximum: MetadataLimits.revokedSerials) {
            let serial: SerialNumber
            do throws(InputError) { serial = try SerialNumber(text.value) } catch {
                throw text.position.error(
                    error.reason, hint: "openssl x509 -serial prints it; lower case, quoted, two digits an octet")
            }
            guard seen[pin, default: []].insert(serial).inserted else {
                throw text.position.error("\(serial) is there twice for one issuer", hint: "remove one of them")
            }
            serials.append(serial)
        }
        let mode = try object.choice("mode", default: DeniedMode.enforce)
        return Located(
            RevokedCertificates(
                issuer: pin, serials: serials, isEnforced: mode == .enforce, note: try object.text("note")?.value),
            value.position)
    }
}

extension Suspension {
    /// Reads an element of `suspended`. How far its end may lie ahead is said when a list is built.
    static func located(_ value: YAMLValue) throws(RepositoryError) -> Located<Suspension> {
        let object = try SourceObject(value, "a suspension", known: ["domain", "until", "reason"])
        guard let domain = try object.text("domain") else {
            throw object.missing("domain", "domain: api.example.com, or \"*\" for every entry")
        }
        guard let until = try object.time("until") else {
            throw object.missing("until", "until: 2026-11-22T12:00:00Z")
        }
        guard let reason = try object.text("reason") else { throw object.missing("reason", "reason: incident 4711") }
        let scope: Suspension.Scope = domain.value == "*" ? .everything : .entry(try HostName(of: domain))
        return Located(Suspension(scope, until: until.value, reason: reason.value), value.position)
    }
}
