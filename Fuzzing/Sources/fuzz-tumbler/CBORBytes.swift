// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@_spi(Parsers) import AppAttestation

/// The strict reader of CBOR.
enum CBORBytes: FuzzTarget {
    static let name = "cbor"

    static func check(_ bytes: [UInt8]) {
        guard let value = try? CBORReader.value(of: bytes[...]) else { return }
        precondition(bytes.count <= CBORReader.maximumLength)
        self.check(value, depth: 0)
        // The same behind other bytes, and neither with one more nor with one less.
        precondition((try? CBORReader.value(of: ([0] + bytes).dropFirst())) == value)
        precondition((try? CBORReader.value(of: (bytes + [0])[...])) == nil)
        precondition((try? CBORReader.value(of: bytes.dropLast())) == nil)
    }

    private static func check(_ value: CBORValue, depth: Int) {
        switch value {
        case .array(let items):
            precondition(depth < CBORReader.maximumDepth)
            for item in items { self.check(item, depth: depth + 1) }
        case .map(let members):
            precondition(depth < CBORReader.maximumDepth)
            for (key, member) in members {
                self.check(key, depth: depth + 1)
                self.check(member, depth: depth + 1)
            }
        case .text(let text): precondition(String(validating: text, as: UTF8.self) != nil)
        case .unsigned, .negative, .bytes, .boolean, .null: break
        }
    }
}
