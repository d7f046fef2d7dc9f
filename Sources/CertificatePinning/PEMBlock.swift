// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// One PEM block (RFC 7468): a label and the bytes under it.
///
/// The reader accepts what tools write: text around the blocks (`openssl s_client -showcerts` prints it), either line
/// ending, blanks at the end of a line, lines of any length. A block that is damaged is an error, never skipped: a root
/// store that silently lacks a root, or a chain that lacks a certificate, would differ from the one that was given.
public struct PEMBlock: Hashable, Sendable {
    /// The maximum length of a text in bytes: a root store of everything Mozilla has ever trusted is below 2 MiB.
    public static let maximumLength = 16 * 1_048_576

    /// The maximum number of blocks: a hundred times as many as Mozilla's root store has.
    public static let maximumCount = 16_384

    /// The label of a certificate.
    public static let certificateLabel = "CERTIFICATE"

    /// The label, such as `CERTIFICATE`.
    public let label: String

    /// The bytes under it.
    public let bytes: [UInt8]

    private static let begin = Array("-----BEGIN ".utf8)
    private static let end = Array("-----END ".utf8)
    private static let dashes = Array("-----".utf8)

    /// Reads all blocks of a text, in order. Time and memory are linear in its length.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - maximumLength: The maximum length in bytes; revocation lists need more than the default.
    /// - Throws: ``InputError/Code/pem`` for a damaged block, or a text over the limits. A text without blocks gives none.
    public static func blocks(
        in text: some Collection<UInt8>, maximumLength: Int = Self.maximumLength
    ) throws(InputError) -> [PEMBlock] {
        guard text.count <= maximumLength else {
            throw InputError(.pem, "PEM of over \(maximumLength) bytes is not read")
        }
        var blocks: [PEMBlock] = []
        var label: ArraySlice<UInt8>?
        var base64: [UInt8] = []
        // Line by line, not split: a slice for each line of a hostile text takes 30 times its memory.
        var rest = self.withoutByteOrderMark(Array(text))
        var number = 0
        while !rest.isEmpty {
            let lineEnd = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            let line = self.trimmed(rest[..<lineEnd])
            rest = rest[lineEnd...].dropFirst()
            number += 1
            if let begun = self.label(of: line, after: self.begin) {
                guard label == nil else { throw InputError(.pem, "line \(number): a PEM block begins inside another") }
                guard blocks.count < self.maximumCount else {
                    throw InputError(.pem, "over \(self.maximumCount) PEM blocks are not read")
                }
                label = begun
            } else if let ended = self.label(of: line, after: self.end) {
                // Also outside of a block: the BEGIN line is damaged then, and the block must not be skipped silently.
                guard let begun = label, begun == ended else {
                    throw InputError(.pem, "line \(number): END of a PEM block without its BEGIN")
                }
                guard !base64.isEmpty, let bytes = Base64.decode(base64) else {
                    throw InputError(.pem, "line \(number): the PEM block that ends here is not base64")
                }
                blocks.append(PEMBlock(label: String(decoding: begun, as: UTF8.self), bytes: bytes))
                label = nil
                base64.removeAll(keepingCapacity: true)
            } else if label != nil {
                base64 += line
            }
        }
        guard label == nil else { throw InputError(.pem, "a PEM block has no END line") }
        return blocks
    }

    /// The byte order mark that Windows writes in front of a text; it is not part of the first line.
    private static func withoutByteOrderMark(_ text: [UInt8]) -> ArraySlice<UInt8> {
        text.starts(with: [0xef, 0xbb, 0xbf]) ? text.dropFirst(3) : text[...]
    }

    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var line = line.drop { self.isBlank($0) }
        while let last = line.last, self.isBlank(last) { line.removeLast() }
        return line
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }

    private static func label(of line: ArraySlice<UInt8>, after prefix: [UInt8]) -> ArraySlice<UInt8>? {
        guard line.count >= prefix.count + self.dashes.count, line.starts(with: prefix),
            line.suffix(self.dashes.count).elementsEqual(self.dashes)
        else { return nil }
        return line.dropFirst(prefix.count).dropLast(self.dashes.count)
    }

    /// The block as text: lines of 64 characters, a line break after the last.
    public var text: String {
        let base64 = Array(Base64.encode(self.bytes).utf8)
        let lines = stride(from: 0, to: base64.count, by: 64).map {
            String(decoding: base64[$0..<min($0 + 64, base64.count)], as: UTF8.self)
        }
        return (["-----BEGIN \(self.label)-----"] + lines + ["-----END \(self.label)-----", ""]).joined(separator: "\n")
    }

    /// Creates a block: some bytes under a label.
    public init(label: String, bytes: [UInt8]) {
        self.label = label
        self.bytes = bytes
    }
}
