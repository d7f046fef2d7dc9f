// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A value and where it was written.
///
/// Equal when the values are: two sources that differ only in their layout mean the same.
public struct Located<Value: Hashable & Sendable>: Hashable, Sendable {
    /// The value.
    public var value: Value
    /// Where it was written.
    public let position: SourcePosition

    /// Joins the two.
    public init(_ value: Value, _ position: SourcePosition) {
        self.value = value
        self.position = position
    }

    /// Equal when the values are.
    public static func == (left: Located, right: Located) -> Bool { left.value == right.value }

    /// Feeds the value alone, as `==` compares it alone.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.value) }
}
