// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListDifference
internal import PinListMetadata

/// Finds the lines of `suspended` in a source. It may be wrong about unusual layouts: the caller parses the result
/// again.
struct SuspensionLines {
    private let root: YAMLValue
    private let members: [YAMLValue.Member]
    private let bytes: [UInt8]
    private let lines: SequenceLines

    init(_ bytes: [UInt8], file: String) throws(RepositoryError) {
        self.root = try YAMLReader.read(bytes, file: file)
        guard case .mapping(let members) = self.root.content else {
            throw self.root.position.error("\(self.root.kind) where a mapping is expected")
        }
        self.members = members
        self.bytes = bytes
        self.lines = try SequenceLines(
            bytes, file: file, what: "suspended", byHand: "change suspended: in \(file) by hand")
    }

    private var member: YAMLValue.Member? { self.members.first { $0.name == "suspended" } }

    /// The bytes with a suspension in front of the others.
    func inserting(_ suspension: Suspension) throws(RepositoryError) -> [UInt8] {
        let item = Self.item(suspension)
        guard self.lines.scalar(at: self.root.position).0 != "{" else {
            throw self.lines.refusal(self.root.position, "the whole is written in {}")
        }
        guard let member else {
            var lines = SourceLines(self.bytes)
            let blanks = String(repeating: " ", count: max(0, (self.members.first?.position.column ?? 1) - 1))
            lines.insert("\(blanks)suspended:", at: lines.lines.count)
            lines.insert("\(blanks)  - \(item)", at: lines.lines.count)
            return lines.bytes
        }
        return try self.lines.inserting(item, into: member)
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
        guard let member, case .sequence(let values) = member.value.content else {
            throw self.lines.refusal(
                self.member?.position ?? self.root.position, "suspended is written in another way")
        }
        for value in values where try Suspension.located(value).value.scope == scope {
            return try self.lines.removing(value, from: member)
        }
        throw self.lines.refusal(member.position, "\(scope.text) is not there")
    }
}
