// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import Testing

@testable import PinListServer
@testable import PinListStore

extension PinListService {
    /// Runs a service in this process, without a log, for as long as `body` runs; then it is cancelled.
    ///
    /// - Parameters:
    ///   - configuration: Its configuration, which listens on a port that the system chooses.
    ///   - store: Its store.
    ///   - clock: Its clock.
    ///   - body: Gets the service and its address, without a slash at its end.
    static func serving(
        _ configuration: ServiceConfiguration, store: any ServiceStore, clock: any ServiceClock = SystemServiceClock(),
        _ body: (PinListService, _ address: String) async throws -> Void
    ) async throws {
        let (listeners, listening) = AsyncStream.makeStream(of: Listening.self)
        let service = PinListService(
            configuration, store: store, clock: clock, instance: "test",
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) { listening.yield($0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { listening.finish() }
                try await service.run()
            }
            defer { group.cancelAll() }
            let first = try #require(await listeners.first { _ in true }, "the service did not start")
            try await body(service, first.address)
        }
    }
}
