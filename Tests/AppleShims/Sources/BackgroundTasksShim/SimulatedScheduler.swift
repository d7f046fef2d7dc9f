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
    /// - Returns: Whether it succeeded; `nil` when it was not submitted.
    public static func launch(_ identifier: String, expires: Bool = false) async -> Bool? {
        guard let (request, queue, handler) = BGTaskScheduler.shared.take(identifier) else { return nil }
        // because it is called once, and here alone
        nonisolated(unsafe) let handle = handler
        let isRefresh = request is BGAppRefreshTaskRequest
        return await withCheckedContinuation { continuation in
            (queue ?? .global()).async {
                let task: BGTask = isRefresh ? BGAppRefreshTask(identifier) : BGProcessingTask(identifier)
                let completion = task.completion
                handle(task)
                if expires { task.expirationHandler?() }
                Task { continuation.resume(returning: await completion.value()) }
            }
        }
    }

    /// What is asked for an identifier.
    public static func pending(_ identifier: String) -> BGTaskRequest? { BGTaskScheduler.shared.request(identifier) }
}
