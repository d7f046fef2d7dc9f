// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A line for the log: text, and values that are shown or hidden.
public struct OSLogMessage: ExpressibleByStringInterpolation {
    /// As the log shows it to others.
    let shown: String
    let hidesSomething: Bool

    /// A text without values, which is shown.
    public init(stringLiteral value: String) {
        self.shown = value
        self.hidesSomething = false
    }

    /// A text with values.
    public init(stringInterpolation: OSLogInterpolation) {
        self.shown = stringInterpolation.shown
        self.hidesSomething = stringInterpolation.hidesSomething
    }
}

/// Collects a line for the log.
public struct OSLogInterpolation: StringInterpolationProtocol {
    var shown = ""
    var hidesSomething = false

    /// An empty line.
    public init(literalCapacity: Int, interpolationCount: Int) {}

    /// A piece of text, which is shown.
    public mutating func appendLiteral(_ literal: String) { self.shown += literal }

    /// A text, which is hidden unless it says otherwise.
    public mutating func appendInterpolation(
        _ argument: @autoclosure @escaping () -> String, align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto
    ) {
        self.append(argument(), isShown: privacy.isShown(byDefault: false))
    }

    /// What describes itself, which is hidden unless it says otherwise.
    public mutating func appendInterpolation<Value: CustomStringConvertible>(
        _ value: @autoclosure @escaping () -> Value, align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto
    ) {
        self.append(value().description, isShown: privacy.isShown(byDefault: false))
    }

    /// A number, which is shown unless it says otherwise.
    public mutating func appendInterpolation<Number: FixedWidthInteger>(
        _ number: @autoclosure @escaping () -> Number, privacy: OSLogPrivacy = .auto
    ) {
        self.append("\(number())", isShown: privacy.isShown(byDefault: true))
    }

    /// A number, which is shown unless it says otherwise.
    public mutating func appendInterpolation(
        _ number: @autoclosure @escaping () -> Double, privacy: OSLogPrivacy = .auto
    ) {
        self.append("\(number())", isShown: privacy.isShown(byDefault: true))
    }

    /// A truth value, which is shown unless it says otherwise.
    public mutating func appendInterpolation(
        _ boolean: @autoclosure @escaping () -> Bool, privacy: OSLogPrivacy = .auto
    ) {
        self.append("\(boolean())", isShown: privacy.isShown(byDefault: true))
    }

    private mutating func append(_ text: String, isShown: Bool) {
        self.shown += isShown ? text : "<private>"
        self.hidesSomething = self.hidesSomething || !isShown
    }
}

/// Whether a value is shown to others.
public struct OSLogPrivacy: Sendable {
    /// Whether equal values can be seen to be equal.
    public enum Mask: Sendable {
        /// They can, by a hash.
        case hash
        /// They cannot.
        case none
    }

    private enum Kind { case auto, shown, hidden }
    private let kind: Kind

    /// Shown.
    public static let `public` = OSLogPrivacy(kind: .shown)
    /// Hidden.
    public static let `private` = OSLogPrivacy(kind: .hidden)
    /// Hidden from all readers (iOS 15).
    public static let sensitive = OSLogPrivacy(kind: .hidden)
    /// Numbers are shown, and all else is hidden.
    public static let auto = OSLogPrivacy(kind: .auto)

    /// Hidden, but for whether it is equal to another.
    public static func `private`(mask: Mask) -> OSLogPrivacy { .private }

    func isShown(byDefault shown: Bool) -> Bool {
        switch self.kind {
        case .auto: shown
        case .shown: true
        case .hidden: false
        }
    }
}

/// How a text is aligned. Not done here.
public struct OSLogStringAlignment: Sendable {
    /// Not at all.
    public static let none = OSLogStringAlignment()
}
