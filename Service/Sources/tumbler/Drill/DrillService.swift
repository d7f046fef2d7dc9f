// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import PinListRepository
import PinListServer
import PinListStore
import ServiceLifecycle

/// A service of a drill: the real one, in this process, on loopback, with SQLite in the folder of the drill.
struct DrillService: Sendable {
    /// Its address, without a slash at its end.
    let address: String
    /// Its store: what is published is looked up there, and costs no request.
    let store: any ServiceStore
    /// The file with the token that publishes.
    let tokenFile: URL

    private let group: ServiceGroup
    private let task: Task<Void, any Error>

    /// Starts it.
    ///
    /// - Parameters:
    ///   - folder: The folder of the drill.
    ///   - name: The name of the list.
    ///   - root: The root that the app ships.
    /// - Throws: ``CommandFailure`` when it does not start.
    static func start(in folder: URL, name: String, root: [UInt8]) async throws -> DrillService {
        var configuration = ServiceConfiguration()
        guard let listen = ListenAddress("127.0.0.1:0"), let here = NetworkRange("127.0.0.1") else {
            throw CommandFailure(.undecided, "there is no loopback address")
        }
        configuration.listen = listen
        configuration.dataDirectory = folder.appendingPathComponent("service").path
        configuration.roots = [name: root]
        // The installations of the drill say in X-Forwarded-For where they are.
        configuration.trustedProxies = [here]
        let store = try StoreLocation.open(configuration)
        let tokenFile = try await Self.token(for: name, in: store, folder)
        let (listening, continuation) = AsyncStream.makeStream(of: String.self)
        let logger = Logger(label: "drill") { _ in SwiftLogNoOpLogHandler() }
        let service = PinListService(
            configuration, store: store, instance: UUID().uuidString, logger: logger
        ) { continuation.yield($0.address) }
        let group = ServiceGroup(services: [service], logger: logger)
        let task = Task {
            defer { continuation.finish() }
            try await group.run()
        }
        for await address in listening {
            return DrillService(address: address, store: store, tokenFile: tokenFile, group: group, task: task)
        }
        task.cancel()
        try await task.value
        throw CommandFailure(.undecided, "the service of the drill did not start")
    }

    /// Makes a token that publishes, in a file that only its owner reads.
    private static func token(for name: String, in store: any ServiceStore, _ folder: URL) async throws -> URL {
        let random = (0..<AccessToken.randomBytes).map { _ in UInt8.random(in: .min ... .max) }
        guard let made = AccessToken.make(.publish, names: [name], random: random, at: SystemServiceClock().now) else {
            throw CommandFailure(.undecided, "no token could be made")
        }
        try await store.write { try $0.add(made.token) }
        let file = folder.appendingPathComponent("publish.token")
        try CommandFailure.wrapping { () throws(RepositoryError) in
            try WrittenFile.write(Array("\(made.secret)\n".utf8), to: file.path, .secret, existing: .kept)
        }
        return file
    }

    /// Ends it, when what it accepted is stored.
    func stop() async {
        await self.group.triggerGracefulShutdown()
        _ = await self.task.result
    }
}
