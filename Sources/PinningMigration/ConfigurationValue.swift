// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import Foundation

/// A value of a property list, or of a dictionary that an app makes in code: within limits, so that it is safe to read.
@_spi(Tools) public enum ConfigurationValue: Hashable, Sendable {
    /// A text within the limit.
    case text(String)
    /// A boolean.
    case flag(Bool)
    /// A whole number.
    case integer(Int64)
    /// A point in time.
    case date(Timestamp)
    /// An array.
    case list([ConfigurationValue])
    /// A dictionary.
    case table([String: ConfigurationValue])
    /// Any other value, with its name.
    case other(String)

    /// Its name in a warning.
    public var kind: String {
        switch self {
        case .text: "a text"
        case .flag: "a boolean"
        case .integer: "a number"
        case .date: "a date"
        case .list: "an array"
        case .table: "a dictionary"
        case .other(let name): name
        }
    }

    /// The boolean that a number or a text says, as `boolValue` reads it; `nil` where it says neither YES nor NO. TrustKit
    /// takes such a text for NO, and ends the app with any other value.
    public var boolean: Bool? {
        switch self {
        case .flag(let flag): return flag
        case .integer(let number): return number != 0
        case .text(let text):
            let word = text.trimmingCharacters(in: .whitespacesAndNewlines).lowercased()
            // A sign and zeros may stand before what counts, and anything behind it.
            if let first = word.drop(while: { "+-0".contains($0) }).first, "yt123456789".contains(first) { return true }
            return ["no", "n", "false", "f"].contains(word) || Int64(word) == 0 ? false : nil
        default: return nil
        }
    }

    /// Copies a value in memory.
    ///
    /// - Throws: ``MigrationError/Code/tooLarge`` when it is over the limits of depth or size.
    init(copying value: Any) throws(MigrationError) {
        var left = MigrationLimits.values
        self = try Self.copy(value, depth: 0, &left)
    }

    private static func copy(_ value: Any, depth: Int, _ left: inout Int) throws(MigrationError) -> ConfigurationValue {
        left -= 1
        guard left > 0, depth < MigrationLimits.depth else { throw self.tooLarge }
        switch value {
        case let text as String: return self.bounded(text)
        // Booleans first: on Apple's platforms the numbers 0 and 1 count as booleans, too.
        case let flag as Bool: return .flag(flag)
        case let integer as Int: return .integer(Int64(integer))
        case let date as Date: return self.date(secondsSince1970: date.timeIntervalSince1970)
        case is Data: return .other("data")
        case let values as [Any]:
            guard values.count <= left else { throw self.tooLarge }
            var copies: [ConfigurationValue] = []
            for value in values { copies.append(try self.copy(value, depth: depth + 1, &left)) }
            return .list(copies)
        case let members as [String: Any]:
            guard members.count <= left else { throw self.tooLarge }
            var copies: [String: ConfigurationValue] = [:]
            for (key, value) in members { copies[key] = try self.copy(value, depth: depth + 1, &left) }
            return .table(copies)
        default: return .other("a value of another kind")
        }
    }

    /// A text, unless it is over the limit.
    static func bounded(_ text: String) -> ConfigurationValue {
        text.utf8.count <= MigrationLimits.textBytes ? .text(text) : .other("an overlong text")
    }

    /// A point in time; an impossible date is another value.
    static func date(secondsSince1970: Double) -> ConfigurationValue {
        guard let seconds = Int64(exactly: secondsSince1970.rounded(.down)), abs(secondsSince1970) < 1e12 else {
            return .other("a date outside of the calendar")
        }
        return .date(Timestamp(secondsSince1970: seconds))
    }

    /// It is over a limit.
    static let tooLarge = MigrationError(
        .tooLarge, "over \(MigrationLimits.values) values, or over \(MigrationLimits.depth) of them within each other",
        hint: "give the part alone that has the pins")
}

extension [String: ConfigurationValue] {
    /// The members sorted by name, so that the same configuration gives the same warnings.
    var sortedMembers: [(key: String, value: ConfigurationValue)] { self.sorted { $0.key < $1.key } }
}
