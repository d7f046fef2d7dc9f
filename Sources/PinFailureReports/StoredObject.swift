// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinListMetadata

/// The members of one object of a stored queue. Missing ones, and ones of another type, are damage.
struct StoredObject {
    private let members: [JSONValue.Member]

    init(_ value: JSONValue) throws(ReportQueue.StateError) {
        guard case .object(let members) = value else {
            throw ReportQueue.StateError(description: "a value is not an object")
        }
        self.members = members
    }

    private func value(_ name: String) -> JSONValue? {
        self.members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    private func damage(_ name: String) -> ReportQueue.StateError {
        ReportQueue.StateError(description: "\(name) is missing or malformed")
    }

    func integer(_ name: String, in range: ClosedRange<Int64>) throws(ReportQueue.StateError) -> Int64 {
        guard case .integer(let number) = self.value(name), range.contains(number) else { throw self.damage(name) }
        return number
    }

    /// A number that older clients did not store; `nil` where it is missing.
    func optionalInteger(_ name: String, in range: ClosedRange<Int64>) throws(ReportQueue.StateError) -> Int64? {
        try self.value(name) == nil ? nil : self.integer(name, in: range)
    }

    func bool(_ name: String) throws(ReportQueue.StateError) -> Bool {
        guard case .bool(let flag) = self.value(name) else { throw self.damage(name) }
        return flag
    }

    func string(_ name: String) throws(ReportQueue.StateError) -> String {
        guard case .string(let text) = self.value(name) else { throw self.damage(name) }
        return text
    }

    func array(_ name: String, maximum: Int) throws(ReportQueue.StateError) -> [JSONValue] {
        guard case .array(let values) = self.value(name), values.count <= maximum else { throw self.damage(name) }
        return values
    }

    /// `id` and `kind`, each a digest.
    func identity() throws(ReportQueue.StateError) -> ReportIdentity {
        let identity = ReportIdentity(id: try self.string("id"), kind: try self.string("kind"))
        for digest in [identity.id, identity.kind] {
            guard digest.utf8.count == ReportIdentity.length,
                digest.utf8.allSatisfy({ Array("0123456789abcdef".utf8).contains($0) })
            else { throw self.damage("id") }
        }
        return identity
    }
}
