// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import Foundation

/// A value of a property list, or of a dictionary that an app makes in code: what can be looked at without a surprise.
@_spi(Tools) public enum ConfigurationValue: Hashable, Sendable {
    /// A text that is no longer than what is looked for.
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
    /// Anything else, by what it is called.
    case other(String)

    /// What it is called in a warning.
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

    /// Copies what somebody has in memory.
    ///
    /// - Throws: ``MigrationError/Code/tooLarge`` when it is deeper, or more, than is read.
    init(copying value: Any) throws(MigrationError) {
        var left = MigrationLimits.values
        self = try Self.copy(value, depth: 0, &left)
    }

    private static func copy(_ value: Any, depth: Int, _ left: inout Int) throws(MigrationError) -> ConfigurationValue {
        left -= 1
        guard left > 0, depth < MigrationLimits.depth else { throw self.tooLarge }
        switch value {
        case let text as String: return self.bounded(text)
        // Booleans first: on Apple's platforms a number is one, too, when it is 0 or 1.
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

    /// A text, unless it is longer than anything that is looked for.
    static func bounded(_ text: String) -> ConfigurationValue {
        text.utf8.count <= MigrationLimits.textBytes ? .text(text) : .other("an overlong text")
    }

    /// A point in time; what no calendar has is something else.
    static func date(secondsSince1970: Double) -> ConfigurationValue {
        guard let seconds = Int64(exactly: secondsSince1970.rounded(.down)), abs(secondsSince1970) < 1e12 else {
            return .other("a date outside of the calendar")
        }
        return .date(Timestamp(secondsSince1970: seconds))
    }

    /// There is more than is read.
    static let tooLarge = MigrationError(
        .tooLarge, "over \(MigrationLimits.values) values, or over \(MigrationLimits.depth) of them within each other",
        hint: "give the part alone that has the pins")
}

extension [String: ConfigurationValue] {
    /// The members by their names, so that the same configuration gives the same warnings.
    var sortedMembers: [(key: String, value: ConfigurationValue)] { self.sorted { $0.key < $1.key } }
}
