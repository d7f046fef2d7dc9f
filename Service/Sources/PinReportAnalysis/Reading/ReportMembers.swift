// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// The members of one object of a report: tolerant in how a value is written, strict in its bounds.
///
/// `null` counts as absent everywhere. A member that no method is asked for is never looked at, and so never kept.
package struct ReportMembers {
    private let members: [JSONValue.Member]

    /// The place of the object, for people: `the report`, `entry 3`.
    let place: String

    init(_ value: JSONValue, _ place: String) throws(ReportError) {
        guard case .object(let members) = value else {
            throw ReportError(.wrongType, "\(place) is not a JSON object; send one report as one object")
        }
        self.members = members
        self.place = place
    }

    private func value(_ name: String) -> JSONValue? {
        // Byte by byte: what is canonically equivalent to an ASCII name, and is another text, has more bytes.
        let value = self.members.first { $0.name.utf8.count == name.utf8.count && $0.name == name }?.value
        return value == .null ? nil : value
    }

    private func wrong(_ name: String, _ expected: String) -> ReportError {
        ReportError(.wrongType, "\(name) of \(self.place) is not \(expected)")
    }

    /// Whether a member is there.
    func has(_ name: String) -> Bool { self.value(name) != nil }

    /// A text of at most ``ReportBodyLimits/textBytes``, as it stands. A number is a text, too: `"app-version": 7`.
    func text(_ name: String) throws(ReportError) -> String? {
        switch self.value(name) {
        case nil: return nil
        case .integer(let number): return String(number)
        case .string(let text):
            guard text.utf8.count <= ReportBodyLimits.textBytes else {
                throw ReportError(
                    .textTooLong, "\(name) of \(self.place) is over \(ReportBodyLimits.textBytes) bytes long")
            }
            return text
        default: throw self.wrong(name, "a text")
        }
    }

    /// A text as a part of one line for people; `nil` when it is absent or empty.
    func line(_ name: String, maximum length: Int = ReportBodyLimits.textLength) throws(ReportError) -> String? {
        guard let text = try self.text(name), !text.isEmpty else { return nil }
        return PrintableText.line(text, maximumLength: length)
    }

    /// A whole number, or its decimal digits as a text.
    func integer(_ name: String, in range: ClosedRange<Int64>) throws(ReportError) -> Int64? {
        let number: Int64
        switch self.value(name) {
        case nil: return nil
        case .integer(let integer): number = integer
        case .string(let text):
            guard (1...20).contains(text.utf8.count), let integer = Int64(text) else {
                throw self.wrong(name, "a whole number")
            }
            number = integer
        default: throw self.wrong(name, "a whole number")
        }
        guard range.contains(number) else {
            throw ReportError(
                .outOfRange,
                "\(name) of \(self.place) is not between \(range.lowerBound) and \(range.upperBound)")
        }
        return number
    }

    /// `true` or `false`; also 1 and 0, and the words that Objective-C and forms write.
    func flag(_ name: String) throws(ReportError) -> Bool? {
        switch self.value(name) {
        case nil: return nil
        case .bool(let flag): return flag
        case .integer(1): return true
        case .integer(0): return false
        case .string("true"), .string("YES"), .string("1"): return true
        case .string("false"), .string("NO"), .string("0"): return false
        default: throw self.wrong(name, "true or false")
        }
    }

    /// An array of texts; empty when it is absent. Their lengths are the caller's to evaluate.
    func texts(_ name: String, maximum: Int) throws(ReportError) -> [String] {
        guard let value = self.value(name) else { return [] }
        guard case .array(let values) = value else { throw self.wrong(name, "an array of texts") }
        guard values.count <= maximum else {
            throw ReportError(.outOfRange, "\(name) of \(self.place) has over \(maximum) elements")
        }
        var texts: [String] = []
        for value in values {
            guard case .string(let text) = value else { throw self.wrong(name, "an array of texts") }
            texts.append(text)
        }
        return texts
    }

    /// A point in time; `nil` when it is absent, or written in an unknown form.
    func time(_ name: String) throws(ReportError) -> Timestamp? {
        try self.text(name).flatMap { ReportedTime.read($0) }
    }

    /// An object within this one.
    func object(_ name: String) throws(ReportError) -> ReportMembers? {
        guard let value = self.value(name) else { return nil }
        return try ReportMembers(value, "\(name) of \(self.place)")
    }

    /// Bytes that are written in base64, so many at most.
    ///
    /// - Parameter code: What is wrong where they are not.
    func bytes(
        _ name: String, maximum: Int, else code: ReportError.Code = .outOfRange
    ) throws(ReportError) -> [UInt8]? {
        guard let value = self.value(name) else { return nil }
        guard case .string(let text) = value else { throw self.wrong(name, "a text in base64") }
        // Measured before it is decoded: base64 takes four characters for three bytes, and is padded.
        guard text.utf8.count <= (maximum + 2) / 3 * 4, let bytes = Base64.decode(text.utf8), bytes.count <= maximum
        else { throw ReportError(code, "\(name) of \(self.place) is not base64 of at most \(maximum) bytes") }
        return bytes
    }
}
