// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListClient
import PinListMetadata
import PinningTesting

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
        // While another task takes in a new list again and again.
        let tally = Tally()
        let busy = await withTaskGroup(of: Double?.self) { group in
            group.addTask {
                while tally.isOpen {
                    _ = try? server.publish { try $0.publishList() }
                    _ = await pinning.refresh()
                    tally.count()
                }
                return nil
            }
            group.addTask {
                let read = Subject(name: "read") { keep(pinning.policyInForce) }
                let time = Measurement.nanoseconds(of: [read], iterations: 10_000)[0]
                tally.close()
                return time
            }
            return await group.reduce(nil) { $0 ?? $1 } ?? 0
        }
        report.time("(h) during \(tally.total) refreshes that put a list in force", busy)
    }

    /// Counts until it is closed.
    ///
    /// `@unchecked Sendable`: because what changes is read and written under the lock only.
    private final class Tally: @unchecked Sendable {
        private let lock = NSLock()
        private var value = 0
        private var isClosed = false

        var isOpen: Bool { self.lock.withLock { !self.isClosed } }
        var total: Int { self.lock.withLock { self.value } }
        func count() { self.lock.withLock { self.value += 1 } }
        func close() { self.lock.withLock { self.isClosed = true } }
    }

    private static func domain(_ number: Int) throws -> PinList.Domain {
        let pins = ["current", "backup"].map { KnownPin(Pin(kind: .publicKey, hashing: Array("\($0) \(number)".utf8))) }
        return PinList.Domain(PinnedDomain(try HostName("api-\(number).example.com"), pins: pins))
    }
}
