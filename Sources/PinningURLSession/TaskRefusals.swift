// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
internal import CertificatePinning
internal import Foundation
@_spi(Adapters) internal import PinListClient

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The refusals by task: the newest 1,024, of tasks that still exist. So many may run when a key is denied, and end at once.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class TaskRefusals: @unchecked Sendable {
    private static let maximum = 1_024

    private struct Entry {
        weak var task: URLSessionTask?
        let refusal: PinningError
    }

    private let lock = NSLock()
    private var entries: [Entry] = []

    /// Ends a task, and records why first: its delegate may hear of the end at once.
    func end(_ task: URLSessionTask, by refusal: PinningDecision, of pinning: Pinning) {
        self.note(refusal, of: pinning, task)
        task.cancel()
    }

    /// Records why a task ends, also for callers who see no task.
    func note(_ refusal: PinningDecision, of pinning: Pinning, _ task: URLSessionTask) {
        self.note(PinningError(refusal), task)
        // The caller of an `async` method may see the error of the URL that it asked for, not of the one after the
        // redirect.
        for request in [task.originalRequest, task.currentRequest] {
            if let host = request?.url?.host { pinning.explain(host, by: refusal) }
        }
    }

    /// Records why a task ends; the first refusal counts.
    func note(_ refusal: PinningError, _ task: URLSessionTask) {
        self.lock.withLock {
            self.entries.removeAll { $0.task == nil }
            guard !self.entries.contains(where: { $0.task === task }) else { return }
            self.entries.append(Entry(task: task, refusal: refusal))
            if self.entries.count > Self.maximum { self.entries.removeFirst() }
        }
    }

    /// The refusal that ended a task.
    func refusal(of task: URLSessionTask) -> PinningError? {
        self.lock.withLock { self.entries.first { $0.task === task }?.refusal }
    }
}
#endif
