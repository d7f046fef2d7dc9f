// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Foundation
internal import PinListMetadata

/// A sleep between two looks at the schedule of refreshes.
struct ScheduleSleep {
    /// Its beginning and its length.
    let pause: RefreshState.Pause
    /// Its end: whether it lasted as long as it was to.
    let end: Task<Bool, Never>
}

extension Pinning {
    /// Refreshes the list by its schedule and after mismatches, sends reports, and looks again at stored files that could not
    /// be read, until the task is cancelled. Its shape is that of a swift-service-lifecycle `Service`. A second call beside the
    /// first does no harm, and nothing more: the work goes on until both are cancelled.
    public func run() async {
        // First, so that no mismatch is missed.
        let mismatches = self.mismatches.signals()
        let denials = self.denials.signals()
        let reports = self.inbox.signals()
        let deliveries = self.deliveries.signals()
        self.deliveries.send()
        let unread = self.unread.signals()
        if self.isUnread { self.unread.send() }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.refreshBySchedule() }
            group.addTask {
                // Written as a loop, because `for await` uses a method that is newer than iOS 15 where the compiler
                // finds it.
                var signals = mismatches.makeAsyncIterator()
                while await signals.next() != nil { await self.refreshAfterMismatch() }
            }
            group.addTask {
                var signals = denials.makeAsyncIterator()
                while await signals.next() != nil { await self.refreshAfterMismatch(isDenial: true) }
            }
            group.addTask {
                var signals = reports.makeAsyncIterator()
                while await signals.next() != nil { await self.collectReports() }
            }
            group.addTask {
                var signals = deliveries.makeAsyncIterator()
                while await signals.next() != nil { await self.sendReports() }
                await self.stopReportTimer()
                // Another call of this method sets it again, and sends what this one did not.
                self.deliveries.send()
            }
            group.addTask {
                var signals = unread.makeAsyncIterator()
                while await signals.next() != nil { await self.readUntilAllIsRead() }
            }
            await group.waitForAll()
        }
    }

    private func refreshBySchedule() async {
        while !Task.isCancelled {
            let now = self.configuration.clock.now
            self.lookAtStaleness(at: now)
            // Without an address there is no schedule: each decision looks.
            guard self.address != nil else { return }
            let wait = self.refreshSchedule.sleep(under: self.held, at: now)
            guard wait > 0 else {
                _ = await self.refresh()
                continue
            }
            guard await self.sleep(RefreshState.Pause(from: now, seconds: wait)) else { return }
        }
    }

    /// Sleeps until the next look at the schedule, or until ``lookAtScheduleSooner()``.
    ///
    /// - Returns: Whether there is a next look: not where the task is cancelled, or the clock does not sleep.
    private func sleep(_ pause: RefreshState.Pause) async -> Bool {
        let (id, clock) = (UUID(), self.configuration.clock)
        let end = Task { (try? await clock.sleep(seconds: Double(pause.seconds))) != nil }
        self.scheduleSleeps[id] = ScheduleSleep(pause: pause, end: end)
        let isOver = await withTaskCancellationHandler {
            await end.value
        } onCancel: {
            end.cancel()
        }
        // A sleep that is not there any more was ended for a sooner look.
        return self.scheduleSleeps.removeValue(forKey: id) == nil || isOver
    }

    /// Ends the sleeps that would last beyond the next refresh by the schedule: one that the schedule did not begin may
    /// have set a sooner time. So it does where the clock has changed, and they would have ended by it.
    func lookAtScheduleSooner() {
        let now = self.configuration.clock.now
        let wait = self.refreshSchedule.sleep(under: self.held, at: now)
        for (id, sleep) in self.scheduleSleeps {
            let left = sleep.pause.secondsLeft(at: now)
            guard left > wait || left == 0 else { continue }
            self.scheduleSleeps[id] = nil
            sleep.end.cancel()
        }
    }

    /// Refreshes after a mismatch, or after a refusal that can be repeated at will.
    private func refreshAfterMismatch(isDenial: Bool = false) async {
        // A stored list may have the pins already.
        self.readAgain()
        guard self.address != nil else { return }
        if self.refreshInFlight != nil {
            _ = await self.refresh()
            return
        }
        let fraction = self.configuration.randomness.fraction()
        let now = self.configuration.clock.now
        let wait =
            isDenial
            ? self.refreshSchedule.waitAfterDenial(at: now, fraction: fraction)
            : self.refreshSchedule.waitAfterMismatch(at: now, fraction: fraction)
        guard let wait else { return }
        guard (try? await self.configuration.clock.sleep(seconds: wait)) != nil else { return }
        _ = await self.refresh()
    }
}
