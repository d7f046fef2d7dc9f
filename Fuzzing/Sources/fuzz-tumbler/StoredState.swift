// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListClient
import PinListMetadata
import PinningTesting

/// The behaviour of a client with a state folder in which one file is anything: the first byte says which, the rest is
/// in it.
enum StoredState: FuzzTarget {
    static let name = "state-folder"

    private static let time = Timestamp(secondsSince1970: 1_795_219_200)
    private static let files: [StateFile] = [.root(2), .pins, .state, .installationID, .reports]

    /// A publisher of whose two roots and three lists the app ships the first.
    private static let repository: RepositorySimulator? = {
        guard let host = try? HostName("api.example.com") else { return nil }
        let entry = PinnedDomain(host, pins: [KnownPin(Pin(kind: .publicKey, hashing: [1]))])
        var repository = try? RepositorySimulator(at: Self.time, seed: 815, domains: [PinList.Domain(entry)])
        _ = try? repository?.publishRoot()
        for _ in 0..<2 { _ = try? repository?.publishList() }
        return repository
    }()

    static func check(_ bytes: [UInt8]) {
        guard let repository, let first = bytes.first else { return }
        let store = MemoryStore()
        store.write(repository.roots[1], to: .root(2))
        store.write(repository.lists[2], to: .pins)
        store.write(Array(bytes.dropFirst()), to: self.files[Int(first) % self.files.count])
        let configuration = PinningConfiguration(
            fetcher: NoNetwork(), reportSender: NoNetwork(), clock: ManualClock(self.time),
            randomness: FixedRandomness(fraction: 0.5))
        guard
            let pinning = try? Pinning(
                root: .bytes(repository.roots[0]), list: .bytes(repository.lists[0]), refreshFrom: nil,
                state: .store(store), configuration: configuration)
        else { preconditionFailure("what the app ships is good") }
        // With anything stored, a list that the publisher signed is in force, and pins.
        let version = pinning.policyInForce.listVersion
        precondition(version.map { (1...3).contains($0) } == true)
        let path = ValidatedPath(uncheckedValidatedPath: [[0x30]])
        precondition(pinning.decision(for: path, host: "api.example.com").verdict == .block)
    }

    /// Each file as it should be.
    static var seeds: [[UInt8]] {
        guard let repository else { return [] }
        return [
            [0] + repository.roots[1], [1] + repository.lists[2], [1] + repository.lists[1],
            [2] + Array(#"{"schema":1,"lastRefresh":"2026-11-21T00:00:00Z","failures":2}"#.utf8),
            [3] + [UInt8](repeating: 7, count: 16), [4] + Array(#"{"schema":1}"#.utf8),
        ]
    }
}
