// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
public import PinListRepository

/// The form in which `pin` prints what it found.
extension PinnedMaterial: Encodable {
    /// The pin, then the subject or the kind of key.
    var line: String { "\(self.pin) \(self.label)" }

    /// A line under `pins:` of an entry in `tumbler.yaml`.
    var yamlLine: String { "          - \(YAMLWriter.line(KnownPin(self.pin, note: self.label)))" }

    private var label: String {
        if let subject, !subject.isEmpty { return subject }
        return self.kind == .certificate ? "(no subject) \(self.algorithm)" : "\(self.algorithm) \(self.kind.rawValue)"
    }

    private enum CodingKeys: CodingKey {
        case pin, kind, source, position, subject, algorithm, notBefore, notAfter
    }

    /// Encodes what formats.md, section 8, says of `pin --json`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.pin.description, forKey: .pin)
        try container.encode(self.kind.rawValue, forKey: .kind)
        try container.encode(self.source, forKey: .source)
        try container.encode(self.position?.rawValue, forKey: .position)
        try container.encode(self.subject, forKey: .subject)
        try container.encode(self.algorithm, forKey: .algorithm)
        try container.encode(self.notBefore?.description, forKey: .notBefore)
        try container.encode(self.notAfter?.description, forKey: .notAfter)
    }
}
