// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinningTesting

/// Envelopes, as a client reads them that trusts keys which the fuzzer does not have.
///
/// The seeds are envelopes that those keys did sign, so that there is something to forge.
enum EnvelopeBytes: FuzzTarget {
    static let name = "envelope"

    private static let time = Timestamp(secondsSince1970: 1_795_219_200)

    /// A publisher whose list 2 was never seen by the client.
    static let repository: RepositorySimulator? = {
        var repository = try? RepositorySimulator(at: Self.time, seed: 4_711, pinsKeys: (2, 1))
        _ = try? repository?.publishRoot()
        _ = try? repository?.publishList()
        return repository
    }()

    private static let client: TrustState? = Self.repository.flatMap { repository in
        try? TrustState(bundledRoot: repository.roots[0], bundledList: repository.lists[0])
    }

    static func check(_ bytes: [UInt8]) {
        for kind in [MetadataRole.root, .pins] {
            guard let envelope = try? Envelope(bytes, of: kind, limits: MetadataLimits()) else { continue }
            precondition(envelope.signatures.count <= MetadataLimits.signatures)
            precondition((try? Envelope(envelope.bytes, of: kind, limits: MetadataLimits())) == envelope)
        }
        guard let repository, let client else { preconditionFailure("the publisher cannot be made") }
        // All that is trusted has a payload that the publisher signed.
        var trust = client
        if let outcome = try? trust.accept(list: bytes, at: self.time) {
            let isTaken = outcome == .newer || outcome == .resigned
            let held = isTaken ? trust.outside : client.inForce?.held
            precondition(held?.list.payload == repository.list.payload || held?.list.version == 1)
            precondition(held?.list.name == repository.list.name)
        }
        trust = client
        if let root = try? trust.accept(root: bytes, at: self.time) { precondition(root == repository.root) }
    }

    /// All that the publisher put out.
    static var seeds: [[UInt8]] { self.repository.map { $0.roots + $0.lists } ?? [] }
}
