// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The decision as JSON (formats.md, section 4): `null` stands where there is nothing, so that every decision has the
/// same members. `detail`, `denied` and `transparency` appear only where there is something to
/// say.
extension PinningDecision: Encodable {
    enum CodingKeys: CodingKey {
        case host, notedHostname, verdict, enforced, reason, matched, matchedIssuer, path, list, detail, denied,
            transparency
    }

    /// Writes the members of formats.md, section 4.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.host, forKey: .host)
        try container.encode(self.entry?.domain.description, forKey: .notedHostname)
        try container.encode(self.verdict, forKey: .verdict)
        try container.encode(self.isEnforced, forKey: .enforced)
        try container.encode(self.reason.description, forKey: .reason)
        try container.encode(self.matched, forKey: .matched)
        try container.encode(self.matchedIssuer, forKey: .matchedIssuer)
        try container.encode(self.path.publicKeyPins.map { $0?.description }, forKey: .path)
        try container.encode(self.list, forKey: .list)
        try container.encodeIfPresent(self.detail, forKey: .detail)
        try container.encodeIfPresent(self.denied, forKey: .denied)
        try container.encodeIfPresent(self.transparency, forKey: .transparency)
    }
}
