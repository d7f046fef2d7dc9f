// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinListMetadata

/// The body of a publication: a JSON array of envelopes, each as the bytes that stand there, white space included, so
/// that what is served is what was signed and checked, byte for byte.
enum EnvelopeArray {
    /// The maximum number of bytes of a publication: the largest list, and roots of a usual size.
    static let maximumBytes = 33_554_432

    /// The maximum number of values that an array may hold: those of all envelopes that one publication may have.
    static let maximumValues = PublishedName.maximumEnvelopes * MetadataLimits.envelopeValues

    /// The elements of an array.
    ///
    /// - Throws: ``PublicationError`` for anything but an array of objects.
    static func elements(of bytes: [UInt8]) throws(PublicationError) -> [[UInt8]] {
        guard bytes.count <= Self.maximumBytes else {
            throw PublicationError(.malformed, "over \(Self.maximumBytes) bytes")
        }
        let value: JSONValue
        do throws(JSONValue.ParsingError) {
            value = try JSONValue(strict: bytes, maximumValues: Self.maximumValues)
        } catch {
            throw PublicationError(.malformed, error.description)
        }
        guard case .array(let elements) = value else {
            throw PublicationError(.malformed, "not an array of envelopes")
        }
        guard elements.allSatisfy({ if case .object = $0 { true } else { false } }) else {
            throw PublicationError(.malformed, "an element is not an envelope")
        }
        return elements.isEmpty ? [] : Self.split(bytes)
    }

    /// Cuts strict JSON at the commas of its outermost array.
    private static func split(_ bytes: [UInt8]) -> [[UInt8]] {
        var elements: [[UInt8]] = []
        var depth = 0
        var start = 0
        var isText = false
        var isEscaped = false
        for (index, byte) in bytes.enumerated() {
            if isText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isText = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isText = true
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                if depth == 1 { start = index + 1 }
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                depth -= 1
                if depth == 0 { elements.append(Array(bytes[start..<index])) }
            case UInt8(ascii: ",") where depth == 1:
                elements.append(Array(bytes[start..<index]))
                start = index + 1
            default: break
            }
        }
        return elements
    }
}
