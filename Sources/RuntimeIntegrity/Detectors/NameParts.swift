// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Parts of names, looked for in upper and lower case alike.
///
/// Before each connection they are looked for in the names of all libraries: this allocates nothing.
public struct NameParts: Hashable, Sendable {
    private let parts: [[UInt8]]
    /// Whether a part begins with a byte, in lower case: hardly a place in a text is the beginning of one.
    private let beginnings: [Bool]

    /// Creates a value.
    ///
    /// - Parameter parts: In lower case; an empty one is part of nothing.
    public init(_ parts: [String]) {
        self.parts = parts.map { Array($0.utf8) }.filter { !$0.isEmpty }
        var beginnings = [Bool](repeating: false, count: 256)
        for part in self.parts { beginnings[Int(part[0])] = true }
        self.beginnings = beginnings
    }

    /// Whether one of them is part of a text.
    public func isPart(of text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            bytes.indices.contains { start in
                self.beginnings[Int(Self.lower(bytes[start]))]
                    && self.parts.contains { part in
                        guard Self.lower(bytes[start]) == part[0], part.count <= bytes.count - start else {
                            return false
                        }
                        return part.indices.allSatisfy { Self.lower(bytes[start + $0]) == part[$0] }
                    }
            }
        }
    }

    /// A letter of ASCII in lower case.
    @inline(__always)
    private static func lower(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
}
