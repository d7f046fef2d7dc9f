// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinningTesting

/// What the stories have in common.
enum Story {
    static let hour: Int64 = 3_600
    static let day: Int64 = 86_400

    /// 2026-11-21T00:00:00Z, when root 1 and list 1 are issued.
    static let start = Timestamp(secondsSince1970: 1_795_219_200)

    /// So long after the beginning.
    static func after(days: Int64 = 0, hours: Int64 = 0) -> Timestamp {
        self.start.advanced(by: days * self.day + hours * self.hour)
    }

    /// A pin of a key that does not exist.
    static func pin(_ number: UInt8) -> Pin { Pin(kind: .publicKey, hashing: [number]) }

    /// An enforcing entry with a pin and a backup.
    static func entry(_ host: String) throws -> PinList.Domain {
        PinList.Domain(PinnedDomain(try HostName(host), pins: [KnownPin(self.pin(1)), KnownPin(self.pin(2))]))
    }

    /// A publisher with one entry.
    static func repository(
        rootKeys: (count: Int, threshold: Int) = (1, 1), pinsKeys: (count: Int, threshold: Int) = (1, 1),
        seed: UInt64 = 1
    ) throws -> RepositorySimulator {
        try RepositorySimulator(
            at: self.start, seed: seed, rootKeys: rootKeys, pinsKeys: pinsKeys,
            domains: [try self.entry("api.example.com")])
    }
}

extension RepositorySimulator {
    /// A client whose app ships the first root and the first list.
    func client(buildDate: Timestamp? = nil) throws -> TrustState {
        try TrustState(bundledRoot: self.roots[0], bundledList: self.lists[0], buildDate: buildDate)
    }

    /// A client started again with what one has stored: the roots after the shipped one, then the list.
    func restarted(_ client: TrustState) throws -> TrustState {
        var again = try self.client()
        for held in client.chain.held.dropFirst() { try again.load(root: held.bytes) }
        if let outside = client.outside { try again.load(list: outside.bytes) }
        return again
    }

    /// A payload of any kind, signed by those who sign lists today.
    func signed(_ payload: [UInt8], as kind: MetadataRole = .pins) throws -> [UInt8] {
        try Envelope(of: kind, payload: payload, signedBy: self.pinsKeys).bytes
    }
}

/// The refusal that something ends with, or `nil` when it is not refused.
func refusal<Result>(_ body: () throws -> Result) throws -> MetadataError? {
    do {
        _ = try body()
        return nil
    } catch let refusal as MetadataError {
        return refusal
    }
}

/// The code of that.
func code<Result>(_ body: () throws -> Result) throws -> MetadataError.Code? { try refusal(body)?.code }
