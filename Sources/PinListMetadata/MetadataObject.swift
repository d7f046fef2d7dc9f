// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// The members of one object of metadata, taken one after the other. What was not taken is unknown.
struct MetadataObject {
    /// The kind of metadata of the object.
    let kind: MetadataRole

    private let members: [JSONValue.Member]

    /// The members that were taken: a bit for each of the first 64, and a set for the rest, which our own objects never
    /// have.
    private var takenLow: UInt64 = 0
    private var takenHigh: Set<Int> = []

    /// Members that are not known, in this object and those in it, by their paths.
    private(set) var unknown: [String] = []

    /// The maximum number of unknown members that are named: a list may have thousands, and a person reads these.
    private static let maximumUnknown = 32

    /// Parses bytes that must be an object.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - kind: The kind of metadata they are part of.
    ///   - maximumValues: The maximum number of values, for unsigned bytes.
    init(
        parsing bytes: [UInt8], of kind: MetadataRole, maximumValues: Int = .max
    ) throws(MetadataError) {
        let value: JSONValue
        do { value = try JSONValue(strict: bytes, maximumValues: maximumValues) } catch {
            throw MetadataError(kind, .malformed, error.description)
        }
        guard case .object(let members) = value else {
            throw MetadataError(kind, .malformed, "the whole is not an object")
        }
        self.init(members, of: kind)
    }

    private init(_ members: [JSONValue.Member], of kind: MetadataRole) {
        self.kind = kind
        self.members = members
    }

    /// A refusal that names the member.
    func malformed(_ name: String, _ what: String) -> MetadataError {
        MetadataError(self.kind, .malformed, "\(name) \(what)")
    }

    /// Takes a member out; `nil` when there is none.
    mutating func take(_ name: String) -> JSONValue? {
        // A text that Unicode calls equal to an ASCII text, without having the same bytes, is longer.
        let length = name.utf8.count
        for (index, member) in self.members.enumerated() where member.name.utf8.count == length && member.name == name {
            guard !self.isTaken(index) else { return nil }
            self.mark(index)
            return member.value
        }
        return nil
    }

    private mutating func mark(_ index: Int) {
        if index < 64 { self.takenLow |= 1 << UInt64(index) } else { self.takenHigh.insert(index) }
    }

    private func isTaken(_ index: Int) -> Bool {
        index < 64 ? self.takenLow & 1 << UInt64(index) != 0 : self.takenHigh.contains(index)
    }

    /// Counts what was not taken as unknown.
    mutating func finish() {
        guard self.takenLow.nonzeroBitCount + self.takenHigh.count < self.members.count else { return }
        for (index, member) in self.members.enumerated()
        where self.unknown.count < Self.maximumUnknown && !self.isTaken(index) {
            self.unknown.append(PrintableText.line(member.name, maximumLength: 64))
        }
    }

    mutating func optionalString(_ name: String) throws(MetadataError) -> String? {
        switch self.take(name) {
        case nil: return nil
        case .string(let text): return text
        default: throw self.malformed(name, "is not a string")
        }
    }

    mutating func string(_ name: String) throws(MetadataError) -> String {
        guard let text = try self.optionalString(name) else { throw self.malformed(name, "is missing") }
        return text
    }

    mutating func base64(_ name: String) throws(MetadataError) -> [UInt8] {
        guard let bytes = Base64.decode(try self.string(name).utf8) else {
            throw self.malformed(name, "is not base64 of the standard alphabet with padding")
        }
        return bytes
    }

    mutating func integer(
        _ name: String, in range: ClosedRange<Int64>, default value: Int64? = nil
    ) throws(MetadataError) -> Int64 {
        guard let number = try self.optionalInteger(name, in: range) ?? value else {
            throw self.malformed(name, "is missing")
        }
        return number
    }

    mutating func optionalInteger(
        _ name: String, in range: ClosedRange<Int64>
    ) throws(MetadataError) -> Int64? {
        switch self.take(name) {
        case .integer(let number) where range.contains(number): return number
        case nil: return nil
        default:
            throw self.malformed(name, "is not a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
    }

    mutating func bool(_ name: String, default value: Bool) throws(MetadataError) -> Bool {
        switch self.take(name) {
        case .bool(let flag): return flag
        case nil: return value
        default: throw self.malformed(name, "is neither true nor false")
        }
    }

    /// One of the raw values of an enumeration.
    mutating func choice<Choice: RawRepresentable<String>>(
        _ name: String, default value: Choice
    ) throws(MetadataError) -> Choice {
        guard let text = try self.optionalString(name) else { return value }
        guard let choice = Choice(rawValue: text) else { throw self.malformed(name, "is not one of the known values") }
        return choice
    }

    mutating func optionalTimestamp(_ name: String) throws(MetadataError) -> Timestamp? {
        guard let text = try self.optionalString(name) else { return nil }
        do { return try Timestamp(text) } catch { throw self.malformed(name, "is not a time: \(error.reason)") }
    }

    mutating func timestamp(_ name: String) throws(MetadataError) -> Timestamp {
        guard let time = try self.optionalTimestamp(name) else { throw self.malformed(name, "is missing") }
        return time
    }

    /// The values of an array; empty when there is none.
    mutating func array(_ name: String, maximum: Int, required: Bool = false) throws(MetadataError) -> [JSONValue] {
        switch self.take(name) {
        case .array(let values) where values.count <= maximum: return values
        case .array: throw self.malformed(name, "has over \(maximum) elements")
        case nil where !required: return []
        case nil: throw self.malformed(name, "is missing")
        default: throw self.malformed(name, "is not an array")
        }
    }

    mutating func strings(_ name: String, maximum: Int, required: Bool = false) throws(MetadataError) -> [String] {
        var texts: [String] = []
        for value in try self.array(name, maximum: maximum, required: required) {
            guard case .string(let text) = value else {
                throw self.malformed(name, "holds something other than strings")
            }
            texts.append(text)
        }
        return texts
    }

    /// Reads an array of objects, each with `read`.
    mutating func objects<Element>(
        _ name: String, maximum: Int, required: Bool = true,
        _ read: (inout MetadataObject) throws(MetadataError) -> Element
    ) throws(MetadataError) -> [Element] {
        try self.objects(name, try self.array(name, maximum: maximum, required: required), read)
    }

    /// Reads values of an array that was taken already.
    mutating func objects<Element>(
        _ name: String, _ values: [JSONValue], _ read: (inout MetadataObject) throws(MetadataError) -> Element
    ) throws(MetadataError) -> [Element] {
        var elements: [Element] = []
        elements.reserveCapacity(values.count)
        for (index, value) in values.enumerated() {
            elements.append(try self.nested(value, "\(name)[\(index)]", read))
        }
        return elements
    }

    /// Reads a member that must be an object.
    mutating func object<Element>(
        _ name: String, _ read: (inout MetadataObject) throws(MetadataError) -> Element
    ) throws(MetadataError) -> Element {
        guard let value = self.take(name) else { throw self.malformed(name, "is missing") }
        return try self.nested(value, name, read)
    }

    /// Reads a member that must be an object where it is there.
    mutating func optionalObject<Element>(
        _ name: String, _ read: (inout MetadataObject) throws(MetadataError) -> Element
    ) throws(MetadataError) -> Element? {
        guard let value = self.take(name) else { return nil }
        return try self.nested(value, name, read)
    }

    /// Reads each member, which must be an object, and takes it.
    mutating func eachObject(
        _ read: (String, inout MetadataObject) throws(MetadataError) -> Void
    ) throws(MetadataError) {
        for (index, member) in self.members.enumerated() {
            self.mark(index)
            try self.nested(member.value, PrintableText.line(member.name, maximumLength: 80)) {
                (object: inout MetadataObject) throws(MetadataError) in
                try read(member.name, &object)
            }
        }
    }

    /// The number of members.
    var count: Int { self.members.count }

    /// Reads an object in this one. The path to a defect in it is assembled as the error travels out.
    private mutating func nested<Element>(
        _ value: JSONValue, _ name: @autoclosure () -> String,
        _ read: (inout MetadataObject) throws(MetadataError) -> Element
    ) throws(MetadataError) -> Element {
        guard case .object(let members) = value else { throw self.malformed(name(), "is not an object") }
        var object = MetadataObject(members, of: self.kind)
        do {
            let element = try read(&object)
            object.finish()
            for path in object.unknown where self.unknown.count < Self.maximumUnknown {
                self.unknown.append("\(name()).\(path)")
            }
            return element
        } catch {
            throw MetadataError(self.kind, error.code, "\(name()).\(error.detail)")
        }
    }
}
