// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListClient
import PinListMetadata
import PinningTesting
import Synchronization

/// A client: from nothing to a snapshot in force, and reading that snapshot at a handshake.
struct ClientBenchmark {
    private static let time = Timestamp(secondsSince1970: 1_795_219_200)

    func run(_ report: inout Report) async throws {
        print("A client with 100 domains (root and list shipped, another list stored in a folder):")
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var repository = try RepositorySimulator(at: Self.time, domains: try (0..<100).map { try Self.domain($0) })
        let root = repository.roots[0]
        let shipped = repository.lists[0]
        try repository.publishList()
        let server = SimulatedServer(repository)
        let configuration = PinningConfiguration(
            fetcher: server, reportSender: NoNetwork(), clock: ManualClock(Self.time))
        let launch = {
            try Pinning(
                root: .bytes(root), list: .bytes(shipped), refreshFrom: URL(string: SimulatedServer.address),
                state: .folder(folder.path), configuration: configuration)
        }
        let pinning = try launch()
        let outcome = await pinning.refresh()
        precondition(outcome.isSuccess && outcome.storeFailure == nil)

        let start = Subject(name: "start") { keep(try? launch()) }
        report.time(
            "(g) cold start to the stored list in force", Measurement.nanoseconds(of: [start], iterations: 20)[0])

        let read = Subject(name: "read") { keep(pinning.policyInForce) }
        let idle = Measurement.nanoseconds(of: [read], iterations: 10_000)[0]
        report.time("(h) reading the snapshot", idle)
        // A refresh that never ends, and one that takes in a new list again and again.
        let isOver = Atomic(false)
        let refreshes = Atomic(0)
        let busy = await withTaskGroup(of: Double?.self) { group in
            group.addTask {
                while !isOver.load(ordering: .relaxed) {
                    try? server.publish { try $0.publishList() }
                    _ = await pinning.refresh()
                    refreshes.add(1, ordering: .relaxed)
                }
                return nil
            }
            group.addTask {
                let time = Measurement.nanoseconds(of: [read], iterations: 10_000)[0]
                isOver.store(true, ordering: .relaxed)
                return time
            }
            return await group.reduce(nil) { $0 ?? $1 } ?? 0
        }
        report.time("(h) during \(refreshes.load(ordering: .relaxed)) refreshes that put a list in force", busy)
    }

    private static func domain(_ number: Int) throws -> PinList.Domain {
        let pins = ["current", "backup"].map { KnownPin(Pin(kind: .publicKey, hashing: Array("\($0) \(number)".utf8))) }
        return PinList.Domain(PinnedDomain(try HostName("api-\(number).example.com"), pins: pins))
    }
}
