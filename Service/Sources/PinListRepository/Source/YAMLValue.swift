// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A value of YAML as it is written: nothing is resolved to a number, a time or a truth value before a caller asks.
package struct YAMLValue: Sendable {
    /// A member of a mapping.
    package struct Member: Sendable {
        /// Its name.
        package let name: String
        /// The position of the name.
        package let position: SourcePosition
        /// The value.
        package let value: YAMLValue
    }

    /// The content of a value.
    package enum Content: Sendable {
        /// A text. Only a plain one, without quotation marks, can be anything else than a text.
        case scalar(String, isPlain: Bool)
        /// An ordered list.
        case sequence([YAMLValue])
        /// Members, each name once.
        case mapping([Member])
    }

    /// The content.
    package let content: Content

    /// The position at which it begins.
    package let position: SourcePosition

    /// Whether nothing is written here: `denied:` and the rest of the line is empty, `~` or `null`.
    package var isEmpty: Bool {
        guard case .scalar(let text, isPlain: true) = self.content else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(text)
    }

    /// The kind of the value in words, for errors.
    package var kind: String {
        switch self.content {
        case _ where self.isEmpty: "nothing"
        case .scalar: "a single value"
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }
}
