// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// `revoked` of a payload (formats.md, section 3.2).
extension PinList {
    /// The effect on a path with a revoked certificate.
    private enum RevokedMode: String { case enforce, report }

    /// Reads the entries, and how many have an issuer whose pin is of a form to come.
    ///
    /// - Throws: ``MetadataError``: `malformed` for a serial number that is not in its one form, or is there twice for
    ///   one issuer, and beyond the limits.
    static func revoked(
        _ object: inout MetadataObject
    ) throws(MetadataError) -> (entries: [RevokedCertificates], unusable: Int) {
        var left = MetadataLimits.revokedSerials
        var seen: [String: Set<SerialNumber>] = [:]
        let entries = try object.objects("revoked", maximum: MetadataLimits.revokedIssuers, required: false) {
            (entry: inout MetadataObject) throws(MetadataError) -> RevokedCertificates? in
            let text = try entry.string("issuer")
            let issuer = try self.issuer(text, entry)
            var serials: [SerialNumber] = []
            for written in try entry.strings("serials", maximum: MetadataLimits.revokedSerials, required: true) {
                guard left > 0 else {
                    throw entry.malformed("serials", "are over \(MetadataLimits.revokedSerials) in the whole list")
                }
                left -= 1
                let serial: SerialNumber
                do throws(InputError) { serial = try SerialNumber(written) } catch {
                    throw entry.malformed("serials", "has an invalid serial number: \(error.reason)")
                }
                guard seen[text, default: []].insert(serial).inserted else {
                    throw entry.malformed("serials", "has \(serial) twice for one issuer")
                }
                serials.append(serial)
            }
            let mode = try entry.choice("mode", default: RevokedMode.enforce)
            let note = try entry.optionalString("note")
            return issuer.map {
                RevokedCertificates(issuer: $0, serials: serials, isEnforced: mode == .enforce, note: note)
            }
        }
        return (entries.compactMap { $0 }, entries.count { $0 == nil })
    }

    /// The pin of an issuing key; `nil` for one of a form to come.
    private static func issuer(_ text: String, _ entry: MetadataObject) throws(MetadataError) -> Pin? {
        guard !text.utf8.starts(with: "cert-sha256/".utf8) else {
            throw entry.malformed("issuer", "is the pin of a certificate, not of a key")
        }
        guard text.utf8.starts(with: "sha256/".utf8) else { return nil }
        do { return try Pin(canonical: text) } catch {
            throw entry.malformed("issuer", "is not a pin: \(error.reason)")
        }
    }
}
