// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Finds the ends of elements in the flow style of YAML (`[…]`, `{…}`), within a text that was parsed already.
struct FlowText {
    private let scalars: [Unicode.Scalar]

    init(_ scalars: [Unicode.Scalar]) { self.scalars = scalars }

    /// The index after the bracket that closes the one at `start`, or `nil` when there is none.
    func end(of start: Int) -> Int? {
        var depth = 0
        var index = start
        while index < self.scalars.count {
            switch self.scalars[index] {
            case "[", "{": depth += 1
            case "]", "}":
                depth -= 1
                if depth == 0 { return index + 1 }
            case "\"" where self.beginsToken(index): index = self.quoteEnd(index)
            case "'" where self.beginsToken(index): index = self.quoteEnd(index)
            case "#" where index == 0 || self.isBlank(index - 1):
                while index < self.scalars.count, self.scalars[index] != "\n" { index += 1 }
            default: break
            }
            index += 1
        }
        return nil
    }

    /// The index of the first scalar from `start` that is neither blank nor in a comment.
    func skipBlanks(_ start: Int) -> Int {
        var index = start
        while index < self.scalars.count {
            if self.scalars[index] == "#", index > 0, self.isBlank(index - 1) {
                while index < self.scalars.count, self.scalars[index] != "\n" { index += 1 }
            } else if !self.isBlank(index) {
                return index
            } else {
                index += 1
            }
        }
        return index
    }

    private func isBlank(_ index: Int) -> Bool { " \t\r\n".unicodeScalars.contains(self.scalars[index]) }

    /// A quotation mark within a plain text is a letter like any other.
    private func beginsToken(_ index: Int) -> Bool {
        var before = index - 1
        while before >= 0, self.isBlank(before) { before -= 1 }
        return before < 0 || "[{,:".unicodeScalars.contains(self.scalars[before])
    }

    /// The index of the mark that closes a quotation.
    private func quoteEnd(_ start: Int) -> Int {
        let mark = self.scalars[start]
        var index = start + 1
        while index < self.scalars.count {
            if self.scalars[index] == mark {
                guard mark == "'", index + 1 < self.scalars.count, self.scalars[index + 1] == "'" else { return index }
                index += 1
            } else if mark == "\"", self.scalars[index] == "\\" {
                index += 1
            }
            index += 1
        }
        return index
    }
}
