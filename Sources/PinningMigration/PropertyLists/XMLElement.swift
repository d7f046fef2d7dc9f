// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// An element of an XML document: what the formats here need of one, without namespaces.
struct XMLElement: Hashable, Sendable {
    /// Its name, a prefix included.
    let name: String
    /// Its attributes.
    var attributes: [String: String] = [:]
    /// The elements in it.
    var children: [XMLElement] = []
    /// The text that stands in it directly, entities resolved.
    var text = ""

    /// The text without blanks and line breaks around it.
    var trimmedText: String {
        var text = self.text[...]
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }

    /// An attribute by its name, or by its name after any prefix.
    func attribute(_ name: String) -> String? {
        self.attributes[name] ?? self.attributes.first { $0.key.hasSuffix(":\(name)") }?.value
    }
}
