// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListDifference
internal import PinListMetadata

/// Finds the lines of `suspended` in a source. It may be wrong about unusual layouts: the caller parses the result
/// again.
struct SuspensionLines {
    private let section: SectionLines

    init(_ bytes: [UInt8], file: String) throws(RepositoryError) {
        self.section = try SectionLines(bytes, of: "suspended", file: file)
    }

    /// The bytes with a suspension in front of the others.
    func inserting(_ suspension: Suspension) throws(RepositoryError) -> [UInt8] {
        try self.section.inserting(Self.item(suspension))
    }

    /// A suspension in one line. JSON's strings are YAML's.
    private static func item(_ suspension: Suspension) -> String {
        let scope = suspension.scope == .everything ? "\"*\"" : suspension.scope.text
        let domain = scope.contains(":") ? "\"\(scope)\"" : scope
        let reason = String(decoding: JSONValue.string(suspension.reason).bytes, as: UTF8.self)
        return "{domain: \(domain), until: \(suspension.until), reason: \(reason)}"
    }

    /// The bytes without the first suspension of a scope.
    func removing(_ scope: Suspension.Scope) throws(RepositoryError) -> [UInt8] {
        guard let member = self.section.member, case .sequence(let values) = member.value.content else {
            throw self.section.lines.refusal(self.section.position, "suspended is written in another way")
        }
        for value in values where try Suspension.located(value).value.scope == scope {
            return try self.section.lines.removing(value, from: member)
        }
        throw self.section.lines.refusal(member.position, "\(scope.text) is not there")
    }
}
