// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// An object of a plan while it is read: errors name the path to the member, and unknown members are refused.
struct PlanObject {
    private let path: String
    private let members: [JSONValue.Member]

    init(_ value: JSONValue, _ path: String, known: [String]) throws(RotationPlanError) {
        guard case .object(let members) = value else {
            throw RotationPlanError(.malformed, path, "is not an object")
        }
        self.path = path
        self.members = members
        for member in members where !known.contains(where: { $0.utf8.elementsEqual(member.name.utf8) }) {
            let name = PrintableText.line(member.name, maximumLength: 64)
            throw RotationPlanError(.malformed, self.path(of: name), "is not known")
        }
    }

    /// The path to a member.
    func path(of name: String) -> String { self.path.isEmpty ? name : "\(self.path).\(name)" }

    func malformed(_ name: String, _ what: String) -> RotationPlanError {
        RotationPlanError(.malformed, self.path(of: name), what)
    }

    /// A member; `nil` when there is none, or it is `null`.
    func value(_ name: String) -> JSONValue? {
        let value = self.members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
        return value == .null ? nil : value
    }

    func required(_ name: String) throws(RotationPlanError) -> JSONValue {
        guard let value = self.value(name) else { throw self.malformed(name, "is missing") }
        return value
    }

    func integer(_ name: String, in range: ClosedRange<Int64>) throws(RotationPlanError) -> Int64 {
        guard case .integer(let number) = try self.required(name), range.contains(number) else {
            throw self.malformed(name, "is not a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// A flag; `false` when there is none.
    func bool(_ name: String) throws(RotationPlanError) -> Bool {
        switch self.value(name) {
        case nil: return false
        case .bool(let flag)?: return flag
        default: throw self.malformed(name, "is neither true nor false")
        }
    }

    /// A text of one line that people can read.
    static func line(_ value: JSONValue, _ path: String) throws(RotationPlanError) -> String {
        guard case .string(let text) = value else { throw RotationPlanError(.malformed, path, "is not a text") }
        guard RotationPlan.isLine(text) else {
            throw RotationPlanError(
                .malformed, path, "is not one line of 1 to \(RotationPlan.maximumTextLength) bytes that can be read")
        }
        return text
    }

    func optionalLine(_ name: String) throws(RotationPlanError) -> String? {
        try self.value(name).map { value throws(RotationPlanError) in try Self.line(value, self.path(of: name)) }
    }

    func line(_ name: String) throws(RotationPlanError) -> String {
        try Self.line(try self.required(name), self.path(of: name))
    }

    func optionalTime(_ name: String) throws(RotationPlanError) -> Timestamp? {
        guard let text = try self.optionalLine(name) else { return nil }
        do { return try Timestamp(text) } catch { throw self.malformed(name, "is not a time: \(error.reason)") }
    }

    func time(_ name: String) throws(RotationPlanError) -> Timestamp {
        guard let time = try self.optionalTime(name) else { throw self.malformed(name, "is missing") }
        return time
    }

    /// The values of an array with their paths; empty when there is none.
    func array(_ name: String, in range: ClosedRange<Int>) throws(RotationPlanError) -> [(JSONValue, String)] {
        guard let value = self.value(name) else {
            guard range.contains(0) else { throw self.malformed(name, "is missing") }
            return []
        }
        guard case .array(let values) = value else { throw self.malformed(name, "is not an array") }
        guard range.contains(values.count) else {
            throw self.malformed(name, "does not have \(range.lowerBound) to \(range.upperBound) elements")
        }
        let path = self.path(of: name)
        return values.enumerated().map { ($0.element, "\(path)[\($0.offset)]") }
    }
}

extension RotationPlan {
    /// Whether a text is one line that can be read, and not too long for a plan.
    public static func isLine(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= self.maximumTextLength
            && text.unicodeScalars.allSatisfy { PrintableText.line(String($0)) == String($0) }
    }
}
