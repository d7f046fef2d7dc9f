// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

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
        guard self.address != nil else { return }
        while !Task.isCancelled {
            let now = self.configuration.clock.now
            self.publishIfStalenessChanged(at: now)
            if self.trust?.isStale(now) == true { self.reportStale(at: now) }
            let interval = self.held?.list.refreshInterval ?? 0
            let wait = self.refreshSchedule.sleep(refreshInterval: interval, at: now)
            guard wait > 0 else {
                _ = await self.refresh()
                continue
            }
            guard (try? await self.configuration.clock.sleep(seconds: Double(wait))) != nil else { return }
        }
    }

    /// Refreshes after a mismatch, or after a refusal that is none of a path.
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
