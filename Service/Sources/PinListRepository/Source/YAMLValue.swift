// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A value of YAML as it is written: nothing is resolved to a number, a time or a truth value before somebody asks.
struct YAMLValue: Sendable {
    /// A member of a mapping.
    struct Member: Sendable {
        /// Its name.
        let name: String
        /// Where the name stands.
        let position: SourcePosition
        /// What it holds.
        let value: YAMLValue
    }

    /// What there is.
    enum Content: Sendable {
        /// A text. Only a plain one, without quotation marks, can be anything else than a text.
        case scalar(String, isPlain: Bool)
        /// An ordered list.
        case sequence([YAMLValue])
        /// Members, each name once.
        case mapping([Member])
    }

    /// What it is.
    let content: Content

    /// Where it begins.
    let position: SourcePosition

    /// Whether nothing is written here: `denied:` and the rest of the line is empty, `~` or `null`.
    var isEmpty: Bool {
        guard case .scalar(let text, isPlain: true) = self.content else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(text)
    }

    /// What it is, in words, for errors.
    var kind: String {
        switch self.content {
        case _ where self.isEmpty: "nothing"
        case .scalar: "a single value"
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }
}
