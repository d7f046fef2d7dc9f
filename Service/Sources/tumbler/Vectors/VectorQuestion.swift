// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata

/// A question of the vectors: an object of JSON, and what is taken from it.
struct VectorQuestion {
    /// A question that cannot be read: a mistake of the vectors, or of what asks.
    struct QuestionError: Error, CustomStringConvertible {
        let description: String
    }

    private let members: [String: JSONValue]

    /// Takes an object; anything else has no members.
    init(_ value: JSONValue) {
        guard case .object(let members) = value else {
            self.members = [:]
            return
        }
        self.members = Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
    }

    /// A member; `nil` where it is absent or `null`.
    func value(_ name: String) -> JSONValue? {
        guard let value = self.members[name], value != .null else { return nil }
        return value
    }

    /// A text that has to be there.
    func text(_ name: String) throws(QuestionError) -> String {
        guard let text = try self.optionalText(name) else { throw Self.missing(name) }
        return text
    }

    /// A text.
    func optionalText(_ name: String) throws(QuestionError) -> String? {
        switch self.value(name) {
        case nil: return nil
        case .string(let text)?: return text
        default: throw Self.missing(name)
        }
    }

    /// A whole number that has to be there.
    func integer(_ name: String) throws(QuestionError) -> Int64 {
        guard case .integer(let number)? = self.value(name) else { throw Self.missing(name) }
        return number
    }

    /// A boolean; `false` where it is absent.
    func flag(_ name: String) throws(QuestionError) -> Bool {
        switch self.value(name) {
        case nil: return false
        case .bool(let flag)?: return flag
        default: throw Self.missing(name)
        }
    }

    /// The elements of an array; `nil` where it is absent.
    func optionalArray(_ name: String) throws(QuestionError) -> [JSONValue]? {
        switch self.value(name) {
        case nil: return nil
        case .array(let values)?: return values
        default: throw Self.missing(name)
        }
    }

    /// The elements of an array that has to be there.
    func array(_ name: String) throws(QuestionError) -> [JSONValue] {
        guard let values = try self.optionalArray(name) else { throw Self.missing(name) }
        return values
    }

    /// Texts.
    func texts(_ name: String) throws(QuestionError) -> [String] {
        try self.array(name).map { value throws(QuestionError) in
            guard case .string(let text) = value else { throw Self.missing(name) }
            return text
        }
    }

    /// Bytes in base64.
    func base64(_ name: String) throws(QuestionError) -> [UInt8] {
        guard let bytes = Base64.decode(try self.text(name).utf8) else { throw Self.missing(name) }
        return bytes
    }

    /// An array of bytes in base64; `nil` where it is absent.
    func optionalChain(_ name: String) throws(QuestionError) -> [[UInt8]]? {
        guard self.value(name) != nil else { return nil }
        return try self.texts(name).map { text throws(QuestionError) in
            guard let bytes = Base64.decode(text.utf8) else { throw Self.missing(name) }
            return bytes
        }
    }

    /// An array of bytes in base64 that has to be there.
    func chain(_ name: String) throws(QuestionError) -> [[UInt8]] {
        guard let chain = try self.optionalChain(name) else { throw Self.missing(name) }
        return chain
    }

    /// A time.
    func optionalTime(_ name: String) throws(QuestionError) -> Timestamp? {
        guard let text = try self.optionalText(name) else { return nil }
        do { return try Timestamp(text) } catch { throw Self.missing(name) }
    }

    /// A time that has to be there.
    func time(_ name: String) throws(QuestionError) -> Timestamp {
        guard let time = try self.optionalTime(name) else { throw Self.missing(name) }
        return time
    }

    /// An object that has to be there.
    func object(_ name: String) throws(QuestionError) -> VectorQuestion {
        guard case .object? = self.value(name), let value = self.value(name) else { throw Self.missing(name) }
        return VectorQuestion(value)
    }

    /// Objects.
    func objects(_ name: String) throws(QuestionError) -> [VectorQuestion] {
        try self.array(name).map { VectorQuestion($0) }
    }

    /// The id of an installation, in hex; `nil` for one that cannot keep it.
    func installation() throws(QuestionError) -> InstallationID? {
        guard let text = try self.optionalText("installation") else { return nil }
        let digits = Array(text.utf8)
        let bytes = stride(from: 0, to: digits.count - digits.count % 2, by: 2).compactMap { index in
            UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16)
        }
        guard digits.count == 2 * InstallationID.length, let id = InstallationID(bytes) else {
            throw Self.missing("installation")
        }
        return id
    }

    /// The defect of a member that is absent, or is not what it has to be.
    static func missing(_ name: String) -> QuestionError {
        QuestionError(description: "\(name) is missing, or invalid")
    }
}

extension JSONValue {
    /// An object of these members, sorted by their names.
    static func members(_ members: [String: JSONValue]) -> JSONValue {
        .object(members.sorted { $0.key < $1.key }.map { Member($0.key, $0.value) })
    }
}
