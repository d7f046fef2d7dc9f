// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// One element of DER as a tree, made to be damaged: every length can be written in ways that DER forbids.
struct DERNode: Sendable {
    /// How the length octets are written.
    enum LengthForm: Sendable {
        /// As DER has it.
        case shortest
        /// In the long form with exactly so many bytes after the first, needed or not.
        case long(Int)
        /// `80`, with the two end-of-contents bytes behind the contents (X.690, section 8.1.3.6).
        case indefinite
        /// These bytes, for any contents.
        case claimed([UInt8])
    }

    /// What lies under the header.
    enum Contents: Sendable {
        case bytes([UInt8])
        case nodes([DERNode])
    }

    var tag: UInt8
    var contents: Contents
    var lengthForm = LengthForm.shortest

    init(_ tag: UInt8, _ bytes: [UInt8]) {
        self.tag = tag
        self.contents = .bytes(bytes)
    }

    init(_ tag: UInt8, _ nodes: DERNode...) {
        self.tag = tag
        self.contents = .nodes(nodes)
    }

    /// What lies under the header, encoded.
    var body: [UInt8] {
        switch self.contents {
        case .bytes(let bytes): bytes
        case .nodes(let nodes): nodes.flatMap(\.encoded)
        }
    }

    /// Header and contents.
    var encoded: [UInt8] {
        let body = self.body
        return switch self.lengthForm {
        case .shortest: [self.tag] + Self.length(body.count) + body
        case .long(let count): [self.tag, 0x80 | UInt8(count)] + Self.bigEndian(body.count, width: count) + body
        case .indefinite: [self.tag, 0x80] + body + [0, 0]
        case .claimed(let octets): [self.tag] + octets + body
        }
    }

    /// The elements under the header; none for bytes.
    var children: [DERNode] {
        get {
            if case .nodes(let nodes) = self.contents { return nodes }
            return []
        }
        set { self.contents = .nodes(newValue) }
    }

    /// The element at a path of child indices; the empty path is this element.
    subscript(path: ArraySlice<Int>) -> DERNode {
        get { path.first.map { self.children[$0][path.dropFirst()] } ?? self }
        set {
            if let first = path.first {
                self.children[first][path.dropFirst()] = newValue
            } else {
                self = newValue
            }
        }
    }

    /// The element at a path of child indices; the empty path is this element.
    subscript(path: [Int]) -> DERNode {
        get { self[path[...]] }
        set { self[path[...]] = newValue }
    }

    private static func length(_ count: Int) -> [UInt8] {
        guard count >= 0x80 else { return [UInt8(count)] }
        let width = (Int.bitWidth - count.leadingZeroBitCount + 7) / 8
        return [0x80 | UInt8(width)] + self.bigEndian(count, width: width)
    }

    private static func bigEndian(_ value: Int, width: Int) -> [UInt8] {
        (0..<width).reversed().map { $0 >= 8 ? 0 : UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
