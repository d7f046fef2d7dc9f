// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Members that may be missing, or of another type than expected: an older command line reads a newer service.
extension KeyedDecodingContainer {
    /// A member; `nil` when it is missing or cannot be read.
    func lenient<Value: Decodable>(_ key: Key) -> Value? {
        (try? self.decodeIfPresent(Value.self, forKey: key)) ?? nil
    }

    /// The elements of a list that can be read; none when it is missing.
    func lenientList<Element: Decodable>(_ key: Key) -> [Element] {
        let elements: [Readable<Element>]? = self.lenient(key)
        return elements?.compactMap(\.value) ?? []
    }
}

/// An element that may be unreadable, without making its neighbours so.
private struct Readable<Value: Decodable>: Decodable {
    let value: Value?

    init(from decoder: any Decoder) throws { self.value = try? Value(from: decoder) }
}
