// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import Foundation
import PinningURLSession

/// Refreshes the list while the app is in the background. The identifier stands in the Info.plist, under
/// `BGTaskSchedulerPermittedIdentifiers`.
enum BackgroundRefresh {
    static let identifier = "com.example.bank.pins"

    /// Call it before the app has finished launching.
    static func register(_ pinning: Pinning) {
        // @Sendable, because the system calls it on a queue of its own: where everything is the main actor's by default, the
        // closure would be, too, and the app would end.
        BGTaskScheduler.shared.register(forTaskWithIdentifier: self.identifier, using: nil) { @Sendable task in
            // because it is not Sendable, and no other code refers to it
            nonisolated(unsafe) let task = task
            // A request is for one start: the next one is asked for here.
            try? Self.schedule()
            let refresh = Task {
                let outcome = await pinning.refresh()
                task.setTaskCompleted(success: outcome.isSuccess)
            }
            task.expirationHandler = { @Sendable in refresh.cancel() }
        }
    }

    /// Call it when the app goes into the background.
    static func schedule() throws {
        let request = BGAppRefreshTaskRequest(identifier: self.identifier)
        request.earliestBeginDate = Date(timeIntervalSinceNow: 12 * 3_600)
        try BGTaskScheduler.shared.submit(request)
    }
}
