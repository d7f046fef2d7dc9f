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
        case .unreadable(let reason):
            findings.append(
                Finding(kind: .stateUnreadable, detail: "\(StateFile.state.path) cannot be read: \(reason)"))
        case .damaged(let reason):
            findings.append(Finding(kind: .stateDamaged, detail: "\(StateFile.state.path) is left aside: \(reason)"))
        case .bytes(let bytes):
            do { return try RefreshState(bytes) } catch {
                let isNewer = error == .newer
                let detail =
                    isNewer ? "a newer version keeps its state here" : "state.json is left aside: it is damaged"
                findings.append(Finding(kind: isNewer ? .stateNewer : .stateDamaged, detail: detail))
            }
        }
        return RefreshState()
    }

    /// Stores it.
    func persist(_ state: RefreshState) throws(StateStoreError) {
        try self.store.withLock { () throws(StateStoreError) in try self.store.write(state.bytes, to: .state) }
    }

    /// Reads the waiting reports.
    func reports(_ findings: inout [Finding]) -> ReportQueue {
        switch self.store.read(.reports, maximumBytes: ReportLimits.stateBytes) {
        case .absent: break
        case .unreadable(let reason):
            findings.append(Finding(kind: .stateUnreadable, detail: "the reports cannot be read: \(reason)"))
        case .damaged(let reason):
            findings.append(Finding(kind: .stateDamaged, detail: "the reports are left aside: \(reason)"))
        case .bytes(let bytes):
            do { return try ReportQueue(bytes) } catch {
                findings.append(Finding(kind: .stateDamaged, detail: "the reports are left aside: \(error)"))
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
        try self.store.withLock { () throws(StateStoreError) in
            var stored: ReportQueue?
            switch self.store.read(.reports, maximumBytes: ReportLimits.stateBytes) {
            case .unreadable(let reason): throw StateStoreError("cannot read \(StateFile.reports.path): \(reason)")
            case .bytes(let bytes): stored = try? ReportQueue(bytes)
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
            try self.store.withLock { () throws(StateStoreError) in
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
