// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

extension Pinning {
    /// The interval at which the disk is looked at again while something there cannot be read, in seconds: a device that is
    /// unlocked for the first time tells only the app.
    private static let readingInterval = 60.0

    /// Whether something stored was not read yet, or the installation's id not stored.
    var isUnread: Bool {
        self.storage == .unreadable || self.areLogsUnread
            || (self.storage == .ready && self.trust != nil && self.installation == nil)
    }

    /// Reads each minute what could not be read before, until all is read.
    func readUntilAllIsRead() async {
        while self.isUnread {
            guard (try? await self.configuration.clock.sleep(seconds: Self.readingInterval)) != nil else { return }
            self.readAgain()
        }
    }

    /// Reads what could not be read before, without the network. A refresh in flight has begun with that.
    func readAgain() {
        guard self.isUnread, self.refreshInFlight == nil else { return }
        let now = self.configuration.clock.now
        var outcome = RefreshOutcome()
        self.readStored(&outcome, at: now)
        if let trust = self.trust { self.lookForLogs(of: trust, at: now) }
    }

    /// Reads what another process stored meanwhile, and what could not be read before. It comes into force as at the start.
    func readStored(_ outcome: inout RefreshOutcome, at now: Timestamp) {
        let before = self.trust
        let wasUnreadable = self.storage == .unreadable
        self.readMark()
        var findings: [ListArchive.Finding] = []
        if var trust = self.trust {
            findings = self.archive.load(into: &trust)
            self.trust = trust
            // Later than the start it is told once: a refresh puts it right before the next start finds it.
            if !self.isDamaged, self.storage == .ready {
                for finding in findings where finding.kind == .stateDamaged {
                    self.hub.send(PinningEvent(finding.kind, at: now, finding.detail))
                }
            }
            self.isDamaged = findings.isDamaged
        }
        if self.storage == .unreadable {
            self.readOthers(findings, at: now)
        } else if let unreadable = findings.unreadable {
            self.stopWriting(unreadable.detail, at: now)
        }
        let isPlaced = self.installation == nil && self.findInstallation(at: now)
        if self.needsStoring { self.store(&outcome, at: now) }
        // Storing may have found a file that cannot be read: then reading waits for its next minute.
        if wasUnreadable, self.storage == .ready { self.deliveries.send() }
        guard let before, let trust = self.trust else { return }
        outcome.hasChanged = self.announce(trust, after: before, at: now)
        guard outcome.hasChanged || isPlaced || trust.outside?.bytes != before.outside?.bytes else { return }
        // The log list that was in force last may be on the disk, and newer than the one in force.
        let kept = self.archive.logs(for: trust, embedded: self.embeddedLogs, before: nil).inForce
        if let kept, kept.isNewer(than: self.logs) { self.logs = kept }
        self.publish(at: now)
    }

    /// Reads the other files after the trust state, once it could be read, and joins them with what happened meanwhile.
    private func readOthers(_ findings: [ListArchive.Finding], at now: Timestamp) {
        guard findings.unreadable == nil, self.trust.flatMap(self.archive.unreadableRoot) == nil else { return }
        var findings = findings
        let state = self.archive.refreshState(&findings)
        if let trust = self.trust { findings += self.archive.missing(by: state, from: trust) }
        _ = self.archive.reports(&findings)
        self.storage = Storage(after: findings)
        guard self.storage != .unreadable else { return }
        for finding in findings { self.hub.send(PinningEvent(finding.kind, at: now, finding.detail)) }
        // A refresh of this process is newer than the stored one.
        if self.refreshSchedule.stored == RefreshState() { self.refreshSchedule.take(state) }
        // Storing joins the reports with those that are stored.
        self.storeReports()
    }

    /// Sends the events about a root and a list that are newer than before.
    ///
    /// - Returns: Whether one is.
    private func announce(_ trust: TrustState, after before: TrustState, at now: Timestamp) -> Bool {
        let root = trust.chain.newest.version
        let hasNewRoot = root != before.chain.newest.version
        if hasNewRoot { self.hub.send(PinningEvent(.rootAccepted, at: now, "root \(root) is trusted, as stored")) }
        guard let list = trust.inForce?.held, list.bytes != before.inForce?.held.bytes else { return hasNewRoot }
        self.wasFetched = false
        self.refreshSchedule.noteNewerList()
        let detail = "version \(list.list.version) is in force, as stored"
        self.hub.send(PinningEvent(.listAccepted, at: now, detail))
        return true
    }

    /// Finds the installation's id, or stores a new one.
    ///
    /// - Returns: Whether there is one now.
    private func findInstallation(at now: Timestamp) -> Bool {
        guard self.trust != nil else { return false }
        var findings: [ListArchive.Finding] = []
        self.installation = self.archive.installation(
            &findings, isWritable: self.storage == .ready, randomness: self.configuration.randomness)
        // The event of the start says why there is none yet.
        guard self.installation != nil else { return false }
        for finding in findings { self.hub.send(PinningEvent(finding.kind, at: now, finding.detail)) }
        return true
    }

    /// Reads the version mark: another process may have written a higher one, or it could not be read before.
    func readMark() {
        guard let name = self.trust?.chain.newest.name, let kept = self.configuration.versionMark?.load(name: name)
        else { return }
        self.trust?.mark = kept
    }

    /// Stores the trust state before it is put in force. When storing fails, it is put in force all the same
    /// (formats.md, section 3.3, step 5).
    func store(_ outcome: inout RefreshOutcome, at now: Timestamp) {
        guard self.storage == .ready else { return self.needsStoring = true }
        guard var trust = self.trust else { return }
        defer { self.trust = trust }
        do {
            try self.archive.persist(&trust, embedded: self.embeddedLogs)
            self.needsStoring = false
        } catch {
            self.needsStoring = true
            outcome.storeFailure = error
            self.note(error, at: now)
        }
    }

    /// Removes what is stored and does not verify, after a refresh that has brought all that the server has: what was damaged
    /// is fetched again before.
    func removeDamaged(at now: Timestamp) {
        guard self.isDamaged, self.storage == .ready, !self.needsStoring, let trust = self.trust else { return }
        do throws(StateStoreError) {
            try self.archive.removeDamaged(under: trust)
            self.isDamaged = false
        } catch {
            self.note(error, at: now)
        }
    }

    /// Sends the event about something that could not be stored. Nothing is written from now on where a file cannot be read, or
    /// a newer version of this library wrote one.
    func note(_ failure: StateStoreError, at now: Timestamp) {
        if failure.isUnreadable { return self.stopWriting(failure.reason, at: now) }
        if failure.isNewer { self.storage = .newer }
        self.hub.send(PinningEvent(failure.isNewer ? .stateNewer : .storeFailed, at: now, failure.reason))
    }

    /// Writes nothing from now on, because a file that is there cannot be read, until it can be.
    private func stopWriting(_ detail: String, at now: Timestamp) {
        self.storage = .unreadable
        self.hub.send(PinningEvent(.stateUnreadable, at: now, detail))
    }
}
