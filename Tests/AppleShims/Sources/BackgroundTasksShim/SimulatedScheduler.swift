// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// What is not Apple's: starts of an app in the background.
public enum SimulatedScheduler {
    /// Starts the task that was asked for, and waits until it is completed.
    ///
    /// - Parameters:
    ///   - identifier: Which task.
    ///   - expires: Whether its time is over at once.
    /// - Returns: Whether it succeeded; `nil` when nobody asked for it.
    public static func launch(_ identifier: String, expires: Bool = false) async -> Bool? {
        guard let (request, queue, handler) = BGTaskScheduler.shared.take(identifier) else { return nil }
        // because the task locks what it keeps, though Apple does not say that it may be shared
        nonisolated(unsafe) let task: BGTask =
            request is BGAppRefreshTaskRequest ? BGAppRefreshTask(identifier) : BGProcessingTask(identifier)
        (queue ?? .global()).async {
            handler(task)
            if expires { task.expirationHandler?() }
        }
        return await task.completion()
    }

    /// What is asked for an identifier.
    public static func pending(_ identifier: String) -> BGTaskRequest? { BGTaskScheduler.shared.request(identifier) }
}
