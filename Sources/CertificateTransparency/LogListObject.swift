// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// An object of a log list with its place in it.
struct LogListObject {
    /// The path of the object, for people.
    let place: String

    private let members: [JSONValue.Member]

    /// Creates one from a value that must be an object.
    init(_ value: JSONValue, at place: String) throws(LogListError) {
        guard case .object(let members) = value else { throw LogListError(.malformed, "\(place) is not an object") }
        self.members = members
        self.place = place
    }

    /// A required member.
    func required<Value>(_ value: Value?, _ name: String) throws(LogListError) -> Value {
        guard let value else { throw LogListError(.malformed, "\(self.place).\(name) is missing") }
        return value
    }

    func string(_ name: String) throws(LogListError) -> String? {
        switch self[name] {
        case nil: return nil
        case .string(let text): return text
        default: throw LogListError(.malformed, "\(self.place).\(name) is not a string")
        }
    }

    func base64(_ name: String) throws(LogListError) -> [UInt8]? {
        guard let text = try self.string(name) else { return nil }
        guard let bytes = Base64.decode(text.utf8) else {
            throw LogListError(.malformed, "\(self.place).\(name) is not base64")
        }
        return bytes
    }

    /// A time of RFC 3339, in UTC with `Z`. A fraction of a second, which some lists have, is cut.
    func timestamp(_ name: String) throws(LogListError) -> Timestamp? {
        guard let text = try self.string(name) else { return nil }
        var characters = Array(text.utf8)
        if characters.count > 21, characters[19] == UInt8(ascii: "."), characters.last == UInt8(ascii: "Z"),
            characters[20..<(characters.count - 1)].allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        {
            characters.removeSubrange(19..<(characters.count - 1))
        }
        guard let time = try? Timestamp(String(decoding: characters, as: UTF8.self)) else {
            throw LogListError(.malformed, "\(self.place).\(name) is not a time")
        }
        return time
    }

    func array(_ name: String) throws(LogListError) -> [JSONValue]? {
        switch self[name] {
        case nil: return nil
        case .array(let values): return values
        default: throw LogListError(.malformed, "\(self.place).\(name) is not an array")
        }
    }

    func object(_ name: String) throws(LogListError) -> LogListObject? {
        guard let value = self[name] else { return nil }
        return try LogListObject(value, at: "\(self.place).\(name)")
    }

    /// A member by its bytes: Swift's `==` takes canonically equivalent texts for equal.
    private subscript(name: String) -> JSONValue? {
        self.members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }
}
