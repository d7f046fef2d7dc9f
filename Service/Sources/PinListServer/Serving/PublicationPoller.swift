// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import PinListStore
internal import ServiceLifecycle

/// Checks regularly whether another instance, or the command line, has published something.
struct PublicationPoller: Service {
    /// The interval of checks.
    static let interval: Duration = .seconds(5)

    let lists: ServedLists
    let store: any ServiceStore
    let logger: Logger

    func run() async throws {
        await Interval.each(Self.interval) {
            do {
                for (name, refusal) in try await self.lists.reload(from: self.store) {
                    self.logger.error("\(name) is not served: the stored metadata do not verify: \(refusal)")
                }
            } catch {
                self.logger.storeFailed("what is published cannot be read; the lists of before are still served", error)
            }
        }
    }
}

/// Repeats a task at an interval.
enum Interval {
    /// Waits, does it, and so on until the service shuts down.
    static func each(_ interval: Duration, _ body: @Sendable () async -> Void) async {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            do { try await cancelWhenGracefulShutdown { try await Task.sleep(for: interval) } } catch { return }
            await body()
        }
    }
}
