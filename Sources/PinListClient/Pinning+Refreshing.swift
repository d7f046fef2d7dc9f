// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Foundation
public import PinListMetadata

extension Pinning {
    /// Refreshes: takes over a newer list that another process stored, fetches new roots and the newest list, and puts them
    /// in force when they are trusted. At most one refresh runs at a time; a concurrent call gets its outcome.
    ///
    /// A call whose task is cancelled returns at once, with a ``RefreshOutcome/fetchFailure`` of
    /// ``FetchError/Code/cancelled``. The refresh ends with the last call that waits for it; it is no failure of the server
    /// then, and the schedule stays as it was.
    public func refresh() async -> RefreshOutcome {
        let waiter = UUID()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { answer in
                guard !Task.isCancelled else { return answer.resume(returning: .cancelled) }
                self.refreshWaiters[waiter] = answer
                if self.refreshInFlight == nil { self.beginRefresh() }
            }
        } onCancel: {
            Task { await self.leaveRefresh(waiter) }
        }
    }

    private func beginRefresh() {
        self.refreshInFlight = Task { self.endRefresh(await self.fetchAll(), wasCancelled: Task.isCancelled) }
    }

    private func endRefresh(_ outcome: RefreshOutcome, wasCancelled: Bool) {
        self.refreshInFlight = nil
        // It was cancelled when no call waited: those that wait now came later.
        if wasCancelled, !self.refreshWaiters.isEmpty { return self.beginRefresh() }
        for waiter in self.refreshWaiters.values { waiter.resume(returning: outcome) }
        self.refreshWaiters = [:]
    }

    private func leaveRefresh(_ waiter: UUID) {
        guard let answer = self.refreshWaiters.removeValue(forKey: waiter) else { return }
        answer.resume(returning: .cancelled)
        if self.refreshWaiters.isEmpty { self.refreshInFlight?.cancel() }
    }

    private func fetchAll() async -> RefreshOutcome {
        // The time is taken once for the whole refresh (formats.md, section 3.3, step 1).
        let now = self.configuration.clock.now
        var outcome = RefreshOutcome()
        self.readStored(&outcome, at: now)
        do {
            try await self.fetchRoots(&outcome, at: now)
            try await self.fetchList(&outcome, at: now)
        } catch let refusal as MetadataError {
            outcome.refused.append(refusal)
            var event = PinningEvent(.refused, at: now, refusal.description)
            event.refusal = refusal
            self.hub.send(event)
        } catch {
            let failure = error as? FetchError ?? FetchError(.network, "\(error)")
            outcome.fetchFailure = failure
            if failure.code != .cancelled { self.hub.send(PinningEvent(.refreshFailed, at: now, failure.reason)) }
        }
        if !outcome.isCancelled { await self.fetchLogs(&outcome, at: now) }
        if outcome.isSuccess { self.removeDamaged(at: now) }
        if !outcome.isCancelled { self.schedule(after: outcome, at: now) }
        self.publishIfStalenessChanged(at: now)
        return outcome
    }

    /// The answer to a request. A refresh that was cancelled takes none: the app is about to be suspended, and should hold no
    /// lock then.
    func answer(to request: FetchRequest) async throws(FetchError) -> FetchResponse {
        guard !Task.isCancelled else { throw .cancelled }
        do {
            let response = try await self.configuration.fetcher.fetch(request)
            if !Task.isCancelled { return response }
        } catch {
            let failure = error as? FetchError ?? FetchError(.network, "\(error)")
            // What a fetcher cancels by itself is a failure like others.
            if !Task.isCancelled { throw failure.code == .cancelled ? FetchError(.network, failure.reason) : failure }
        }
        throw .cancelled
    }

    /// Fetches a resource of the list; a body that is too long is a refusal, not a failure of the network.
    private func fetch(
        _ path: String, _ kind: MetadataRole, ifNoneMatch: String? = nil, at now: Timestamp
    ) async throws -> FetchResponse {
        guard let address = self.address else { throw FetchError(.network, "there is no address to refresh from") }
        let limits = self.configuration.limits
        let maximum = kind == .root ? limits.rootBytes : limits.listBytes
        let request = FetchRequest(address: address + path, maximumBytes: maximum, ifNoneMatch: ifNoneMatch)
        do throws(FetchError) {
            return try await self.answer(to: request)
        } catch {
            guard error.code == .tooLarge else { throw error }
            let refusal = MetadataError(kind, .tooLarge, error.reason)
            self.report(refusal, of: [], at: now)
            throw refusal
        }
    }

    private func fetchRoots(_ outcome: inout RefreshOutcome, at now: Timestamp) async throws {
        for _ in 0..<MetadataLimits.rotationsPerRefresh {
            guard let newest = self.trust?.chain.newest.version else { return }
            let response = try await self.fetch("/root/\(newest + 1).json", .root, at: now)
            switch response.status {
            case 200:
                let root: Root?
                do { root = try self.trust?.accept(root: response.body, at: now) } catch {
                    self.report(error, of: response.body, at: now)
                    throw error
                }
                self.store(&outcome, at: now)
                outcome.hasChanged = true
                self.publish(at: now)
                self.keepMark()
                self.hub.send(PinningEvent(.rootAccepted, at: now, "root \(root?.version ?? 0) is trusted"))
            case 403, 404: return
            default: throw Self.failure(response, "the next root")
            }
        }
        self.hub.send(
            PinningEvent(
                .tooManyRoots, at: now, "\(MetadataLimits.rotationsPerRefresh) new roots; the rest at the next refresh")
        )
    }

    private func fetchList(_ outcome: inout RefreshOutcome, at now: Timestamp) async throws {
        let digest = self.held?.digest
        let response = try await self.fetch("/pins.json", .pins, ifNoneMatch: digest.map { "\"\($0)\"" }, at: now)
        if response.status == 304, digest != nil { return self.keepMark() }
        guard response.status == 200 else { throw Self.failure(response, "the list") }
        let acceptance: TrustState.Acceptance?
        do { acceptance = try self.trust?.accept(list: response.body, at: now) } catch {
            self.report(error, of: response.body, at: now)
            throw error
        }
        guard acceptance == .newer || acceptance == .resigned else { return self.keepMark() }
        self.wasFetched = true
        self.store(&outcome, at: now)
        self.publish(at: now)
        self.keepMark()
        guard acceptance == .newer, let list = self.held?.list else { return }
        outcome.hasChanged = true
        self.refreshSchedule.noteNewerList()
        self.hub.send(PinningEvent(.listAccepted, at: now, "version \(list.version) is in force"))
    }

    /// Updates the version mark outside the state folder where the trust state needs another one: after a list, after
    /// each root, and after an unchanged list, so that a lost mark is there again after the next refresh (formats.md,
    /// section 6).
    private func keepMark() {
        guard let versionMark = self.configuration.versionMark, let trust = self.trust, trust.markToKeep != nil else {
            return
        }
        self.readMark()
        guard let mark = self.trust?.markToKeep else { return }
        do throws(StateStoreError) {
            try versionMark.save(mark)
            self.trust?.mark = mark
            self.markFailure.reset()
        } catch {
            // The next refresh tries again.
            guard self.markFailure.isNow() else { return }
            self.hub.send(PinningEvent(.storeFailed, at: self.configuration.clock.now, error.reason))
        }
    }

    private static func failure(_ response: FetchResponse, _ what: String) -> FetchError {
        FetchError(
            .status, "the server answered \(response.status) for \(what)", retryAfter: response.retryAfter)
    }

    /// Schedules the next refresh.
    private func schedule(after outcome: RefreshOutcome, at now: Timestamp) {
        let fraction = self.configuration.randomness.fraction()
        let isSuperseded = self.held?.status == .superseded
        if outcome.isSuccess, !isSuperseded {
            self.refreshSchedule.noteSuccess(
                refreshInterval: self.held?.list.refreshInterval ?? 0, fraction: fraction, at: now)
        } else {
            let asked = outcome.fetchFailure?.retryAfter?.seconds(at: now) ?? 0
            self.refreshSchedule.noteFailure(
                retryAfter: asked, isSuperseded: isSuperseded, fraction: fraction, at: now)
        }
        self.lookAtScheduleSooner()
        guard self.storage == .ready else { return }
        do throws(StateStoreError) {
            try self.archive.persist(self.refreshSchedule.stored, with: self.needsStoring ? nil : self.trust)
        } catch {
            self.note(error, at: now)
        }
    }

    /// Looks whether the list in force has expired: observers and open connections are told once, and collectors as long as it
    /// is so.
    func lookAtStaleness(at now: Timestamp) {
        self.publishIfStalenessChanged(at: now)
        if self.trust?.isStale(now) == true { self.reportStale(at: now) }
    }

    /// Tells observers and open connections that the list in force has expired, or is valid again because the clock
    /// went back.
    func publishIfStalenessChanged(at now: Timestamp) {
        let inForce = self.box.value
        guard inForce.isStale(at: now) != inForce.wasStale else { return }
        self.publish(at: now)
    }
}

/// The outcome of a refresh.
public struct RefreshOutcome: Hashable, Sendable {
    /// Whether a newer list or root is in force than before.
    public var hasChanged = false
    /// The refusals, in order.
    public var refused: [MetadataError] = []
    /// The failure because of which not all could be fetched.
    public var fetchFailure: FetchError?
    /// The failure to fetch the log list that the list names. It refuses nothing; the next refresh tries again.
    public var logsFailure: FetchError?
    /// The failure to store; the lists are in force all the same.
    public var storeFailure: StateStoreError?

    /// Whether all was fetched and nothing was refused.
    public var isSuccess: Bool { self.refused.isEmpty && self.fetchFailure == nil }

    /// Whether it ended because no call waited for it any more.
    var isCancelled: Bool { self.fetchFailure?.code == .cancelled }

    /// The outcome for a call whose task was cancelled.
    static var cancelled: RefreshOutcome {
        var outcome = RefreshOutcome()
        outcome.fetchFailure = .cancelled
        return outcome
    }
}
