// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import PinListMetadata
import PinningTesting

/// A report that arrived, read.
struct SentReport {
    private let members: [String: JSONValue]

    /// Reads one; it has no members when it is no object.
    init(_ arrival: SimulatedCollector.Arrival) throws {
        guard case .object(let members) = try JSONValue(strict: arrival.body) else {
            self.members = [:]
            return
        }
        self.members = Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value) })
    }

    /// A member of it.
    subscript(name: String) -> JSONValue? { self.members[name] }

    /// A member that is a chain, as DER.
    func chain(_ name: String) throws -> [[UInt8]] {
        guard case .array(let texts)? = self.members[name] else { return [] }
        return try texts.flatMap { text in
            guard case .string(let text) = text else { return [[UInt8]]() }
            return try PEMBlock.blocks(in: Array(text.utf8)).map(\.bytes)
        }
    }
}
#endif
