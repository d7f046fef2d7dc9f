// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import PinListMetadata

/// Writes YAML as `tumbler.yaml` and `rotations/HOST.yaml` have it (formats.md, section 9): elements of lists in one line,
/// and texts in double quotation marks where another reader could take them for something else.
package enum YAMLWriter {
    /// A text in double quotation marks: JSON's strings are YAML's.
    package static func quoted(_ text: String) -> String {
        String(decoding: JSONValue.string(text).bytes, as: UTF8.self)
    }

    // MARK: Elements of a source

    /// An element of `pins`.
    package static func line(_ known: KnownPin) -> String {
        let position = known.position == .any ? "" : ", position: \(known.position.rawValue)"
        return "{pin: \(self.quoted("\(known.pin)"))\(position)\(self.note(known.note))}"
    }

    /// An element of `revoked`.
    static func line(_ entry: RevokedCertificates) -> String {
        let serials = entry.serials.map { self.quoted("\($0)") }.joined(separator: ", ")
        let mode = entry.isEnforced ? "" : ", mode: report"
        return "{issuer: \(self.quoted("\(entry.issuer)")), serials: [\(serials)]\(mode)\(self.note(entry.note))}"
    }

    /// An element of `suspended`.
    static func line(_ suspension: Suspension) -> String {
        let scope = "\(suspension.scope)"
        // A plain `*` begins an alias, and a colon in an address of IPv6 could end a name.
        let domain = suspension.scope == .everything || scope.contains(":") ? self.quoted(scope) : scope
        return "{domain: \(domain), until: \(suspension.until), reason: \(self.quoted(suspension.reason))}"
    }

    private static func note(_ note: String?) -> String { note.map { ", note: \(self.quoted($0))" } ?? "" }

    // MARK: Any value

    /// The members of an object as lines: objects in it are blocks, elements of its lists stand in one line each.
    ///
    /// - Parameters:
    ///   - members: The members, in their order.
    ///   - indentation: What each line begins with.
    ///   - isPlain: Whether a text reads back as itself without quotation marks.
    static func lines(
        _ members: [JSONValue.Member], indentation: String = "", isPlain: (String) -> Bool
    ) -> [String] {
        members.flatMap { member in
            let head = "\(indentation)\(member.name):"
            return switch member.value {
            case .object(let inner):
                [head] + self.lines(inner, indentation: "\(indentation)  ", isPlain: isPlain)
            case .array(let values): [head] + values.map { "\(indentation)  - \(self.line($0, isPlain))" }
            default: ["\(head) \(self.line(member.value, isPlain))"]
            }
        }
    }

    private static func line(_ value: JSONValue, _ isPlain: (String) -> Bool) -> String {
        switch value {
        case .string(let text): isPlain(text) ? text : self.quoted(text)
        case .array(let values): "[\(values.map { self.line($0, isPlain) }.joined(separator: ", "))]"
        case .object(let members):
            "{\(members.map { "\($0.name): \(self.line($0.value, isPlain))" }.joined(separator: ", "))}"
        default: String(decoding: value.bytes, as: UTF8.self)
        }
    }
}
