// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinFailureReports
internal import PinListMetadata

extension ListArchive {
    /// Reads when the client refreshed last.
    func refreshState(_ findings: inout [Finding]) -> RefreshState {
        switch self.store.read(.state, maximumBytes: RefreshState.maximumBytes) {
        case .absent: break
        case .unreadable(let reason): findings.append(Self.unreadable(.state, reason))
        case .damaged(let reason): findings.append(Self.damaged(.state, reason))
        case .bytes(let bytes):
            do { return try RefreshState(bytes) } catch {
                findings.append(
                    error == .newer ? Self.newer(.state) : Self.damaged(.state, "it is no state of a client"))
            }
        }
        return RefreshState()
    }

    /// The findings about a root and a list that were stored by what is stored of refreshes, and are gone.
    func missing(by state: RefreshState, from trust: TrustState) -> [Finding] {
        let version = trust.chain.newest.version + 1
        let next = StateFile.root(version)
        var gone: [StateFile] = []
        if let first = state.firstRoot, let last = state.storedRoot, first <= version, version <= last,
            self.store.read(next, maximumBytes: self.limits.rootBytes) == .absent
        {
            gone.append(next)
        }
        if state.storedList != nil, self.store.read(.pins, maximumBytes: self.limits.listBytes) == .absent {
            gone.append(.pins)
        }
        return gone.map { Finding(kind: .stateDamaged, detail: "\($0.path) was stored, and is gone", file: $0) }
    }

    /// Stores it.
    ///
    /// - Parameters:
    ///   - state: The state of refreshes.
    ///   - trust: The trust state as it is stored; `nil` where it could not be stored.
    func persist(_ state: RefreshState, with trust: TrustState?) throws(StateStoreError) {
        var state = state
        if let trust {
            let roots = trust.chain.held.dropFirst()
            (state.firstRoot, state.storedRoot) = (roots.first?.root.version, roots.last?.root.version)
            state.storedList = trust.outside?.list.version
        }
        try self.writing { () throws(StateStoreError) in
            // It may be that of a newer version.
            if case .unreadable(let reason) = self.store.read(.state, maximumBytes: RefreshState.maximumBytes) {
                throw StateStoreError(unreadable: Self.unreadable(.state, reason))
            }
            try self.store.write(state.bytes, to: .state)
        }
    }

    /// Reads the waiting reports.
    func reports(_ findings: inout [Finding]) -> ReportQueue {
        switch self.store.read(.reports, maximumBytes: ReportLimits.stateBytes) {
        case .absent: break
        case .unreadable(let reason): findings.append(Self.unreadable(.reports, reason))
        case .damaged(let reason): findings.append(Self.damaged(.reports, reason))
        case .bytes(let bytes):
            do { return try ReportQueue(bytes) } catch {
                findings.append(error.isNewer ? Self.newer(.reports) : Self.damaged(.reports, error.description))
            }
        }
        return ReportQueue()
    }

    /// Merges the reports with those that another process stored meanwhile, changes them, and stores them.
    ///
    /// - Parameters:
    ///   - reports: The queue of this process.
    ///   - known: The stored queue as this process knows it.
    ///   - now: The time.
    ///   - change: The change of the merged queue. It is made at most once, and not without the lock.
    /// - Throws: ``StateStoreError``; the queue in memory keeps what was merged and changed.
    func persist(
        _ reports: inout ReportQueue, since known: inout ReportQueue, at now: Timestamp,
        by change: (inout ReportQueue) -> Void
    ) throws(StateStoreError) {
        try self.writing { () throws(StateStoreError) in
            var stored: ReportQueue?
            switch self.store.read(.reports, maximumBytes: ReportLimits.stateBytes) {
            case .unreadable(let reason): throw StateStoreError("cannot read \(StateFile.reports.path): \(reason)")
            case .bytes(let bytes):
                do throws(ReportQueue.StateError) { stored = try ReportQueue(bytes) } catch {
                    if error.isNewer { throw StateStoreError(newer: .reports) }
                }
            case .absent, .damaged: break
            }
            if let stored {
                reports.merge(stored, since: known, at: now)
                known = stored
            }
            change(&reports)
            guard reports != stored else { return }
            try self.store.write(reports.bytes, to: .reports)
            known = reports
        }
    }

    /// The installation's id: the stored one, or a new one that could be stored.
    ///
    /// - Returns: `nil` when none can be stored: then only entries that all installations enforce are enforced.
    func installation(
        _ findings: inout [Finding], isWritable: Bool, randomness: any PinningRandomness
    ) -> InstallationID? {
        switch self.store.read(.installationID, maximumBytes: InstallationID.length) {
        case .bytes(let bytes):
            if let installation = InstallationID(bytes) { return installation }
            findings.append(Finding(kind: .stateDamaged, detail: "the installation id is not 16 bytes long"))
        case .damaged(let reason):
            findings.append(Finding(kind: .stateDamaged, detail: "the installation id is left aside: \(reason)"))
        case .unreadable(let reason):
            findings.append(Finding(kind: .stateUnreadable, detail: "the installation id cannot be read: \(reason)"))
            return nil
        case .absent: break
        }
        guard isWritable else { return nil }
        var kept: InstallationID?
        do {
            try self.writing { () throws(StateStoreError) in
                // Another process may have been first; all of them have the same place in each rollout.
                switch self.store.read(.installationID, maximumBytes: InstallationID.length) {
                case .bytes(let bytes):
                    if let installation = InstallationID(bytes) { return kept = installation }
                case .unreadable(let reason):
                    throw StateStoreError(unreadable: Self.unreadable(.installationID, reason))
                case .absent, .damaged: break
                }
                let bytes = randomness.bytes(InstallationID.length)
                try self.store.write(bytes, to: .installationID)
                kept = InstallationID(bytes)
            }
        } catch {
            findings.append(Finding(kind: .storeFailed, detail: error.reason))
        }
        return kept
    }
}
