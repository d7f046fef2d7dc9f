// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import CertificateTransparency
internal import PinListMetadata

extension ListArchive {
    /// The state of the log list that the list in force names.
    struct FoundLogs {
        /// The log list that policies are evaluated with; `nil` for none.
        var inForce: LogsInForce?
        /// Whether the file that the list names is to be fetched.
        var isWanted = false
        /// Whether a file is there and cannot be read now.
        var isUnreadable = false
        /// The event for people.
        var findings: [Finding] = []
    }

    /// The log list that a list names, as it is stored or embedded, or the one that was in force before.
    ///
    /// A stored file is not trusted: it counts only when a list that was verified names it and its length and digest
    /// match.
    ///
    /// - Parameters:
    ///   - trust: The trust state: the list in force, and the other held ones.
    ///   - embedded: The log list that the app ships, or the one that was just fetched.
    ///   - before: The log list that was in force.
    func logs(for trust: TrustState, embedded: [UInt8]?, before: LogsInForce?) -> FoundLogs {
        var found = FoundLogs()
        guard let list = trust.inForce?.held.list else { return found }
        guard let listed = list.logs else {
            if list.asksForTransparency {
                found.findings.append(
                    Finding(
                        kind: .logsMissing,
                        detail: "version \(list.version) asks for Certificate Transparency but names no log list"))
            }
            return found
        }
        if let before, before.listed == listed {
            found.inForce = before
            return found
        }
        switch self.file(listed, embedded: embedded) {
        case .bytes(let bytes):
            do throws(LogListError) {
                found.inForce = try LogsInForce(bytes, listed: listed)
                return found
            } catch {
                found.findings.append(
                    Finding(kind: .logsUnreadable, detail: "the log list of version \(list.version): \(error)"))
            }
        case .unreadable(let reason):
            found.isUnreadable = true
            found.findings.append(
                Finding(kind: .logsUnreadable, detail: "the log list cannot be read: \(reason)"))
        case .absent, .damaged:
            found.isWanted = true
            found.findings.append(
                Finding(kind: .logsMissing, detail: "the log list of version \(list.version) is not there yet"))
        }
        found.inForce = before ?? self.otherLogs(of: trust, than: listed, embedded: embedded, &found.findings)
        if found.findings.unreadable != nil { found.isUnreadable = true }
        return found
    }

    /// The log list of another list, after a start: a held one, or the one that was kept because its log list was in
    /// force. The highest version is the one that was in force last.
    private func otherLogs(
        of trust: TrustState, than listed: ListedLogs, embedded: [UInt8]?, _ findings: inout [Finding]
    ) -> LogsInForce? {
        var others = [trust.outside, trust.bundled].compactMap { $0?.list }
        do throws(Finding) { others += [try self.pinsNamingLogs(under: trust)].compactMap { $0 } } catch {
            findings.append(error)
        }
        for other in others.sorted(by: { $0.version > $1.version }) {
            if let logs = other.logs, logs != listed, let found = self.readableLogs(logs, embedded: embedded) {
                return found
            }
        }
        return nil
    }

    /// The list that was kept because its log list was in force, verified like a held one; `nil` for none.
    ///
    /// It must be current: what a revoked signer named ends with a restart.
    private func pinsNamingLogs(under trust: TrustState) throws(Finding) -> PinList? {
        switch self.store.read(.pinsNamingLogs, maximumBytes: self.limits.listBytes) {
        case .absent: return nil
        case .unreadable(let reason): throw Self.unreadable(.pinsNamingLogs, reason)
        case .damaged(let reason): throw Self.damaged(.pinsNamingLogs, reason)
        case .bytes(let bytes):
            var kept = trust
            do { try kept.load(list: bytes) } catch { throw Self.damaged(.pinsNamingLogs, error.description) }
            return kept.outside?.status == .current ? kept.outside?.list : nil
        }
    }

    /// A log list that is there and can be read; else `nil`.
    private func readableLogs(_ listed: ListedLogs, embedded: [UInt8]?) -> LogsInForce? {
        guard case .bytes(let bytes) = self.file(listed, embedded: embedded) else { return nil }
        return try? LogsInForce(bytes, listed: listed)
    }

    /// The file that a list names: the embedded one, or the stored one. Any other content counts as absent.
    private func file(_ listed: ListedLogs, embedded: [UInt8]?) -> StoredFile {
        if let embedded, listed.isFile(embedded) { return .bytes(embedded) }
        let stored = self.store.read(.logs(listed.digest), maximumBytes: listed.length)
        if case .bytes(let bytes) = stored, !listed.isFile(bytes) { return .damaged("it is another file") }
        return stored
    }

    /// Stores a log list.
    func persist(_ bytes: [UInt8], of listed: ListedLogs) throws(StateStoreError) {
        try self.writing { () throws(StateStoreError) in
            if case .bytes(bytes) = self.store.read(.logs(listed.digest), maximumBytes: listed.length) { return }
            try self.store.write(bytes, to: .logs(listed.digest))
        }
    }

    /// Keeps the stored list, before a list with another log list replaces it, where its own log list is there. Without
    /// a list that names it no file is believed after a restart (formats.md, section 6).
    func keepPinsNamingLogs(before trust: TrustState, embedded: [UInt8]?) throws(StateStoreError) {
        guard let next = trust.outside, let wanted = next.list.logs,
            case .bytes(let bytes) = self.store.read(.pins, maximumBytes: self.limits.listBytes), bytes != next.bytes
        else { return }
        var stored = trust
        do { try stored.load(list: bytes) } catch { return }
        guard let listed = stored.outside?.list.logs, listed != wanted,
            self.readableLogs(listed, embedded: embedded) != nil
        else { return }
        try self.store.write(bytes, to: .pinsNamingLogs)
    }

    /// Removes the log lists that nothing names any more: a list that this process holds, one that another process
    /// stored meanwhile, or the one that was kept for its log list. That one goes when the log list of the stored list
    /// is there.
    ///
    /// - Parameters:
    ///   - trust: The trust state.
    ///   - inForce: The log list in force in this process, which stays.
    ///   - embedded: The log list that the app ships.
    func removeLogs(
        unnamedIn trust: TrustState, inForce: LogsInForce?, embedded: [UInt8]?
    ) throws(StateStoreError) {
        guard self.hasPinsNamingLogs || !self.store.logDigests().isEmpty else { return }
        try self.writing { () throws(StateStoreError) in
            // Another process may have stored a list of a root that this one does not know.
            var (stored, problems) = (trust, [Finding]())
            self.loadRoots(into: &stored, &problems)
            guard problems.unreadable == nil else { return }
            switch self.store.read(.pins, maximumBytes: self.limits.listBytes) {
            case .bytes(let bytes): try? stored.load(list: bytes)
            // What cannot be read now may name a log list.
            case .unreadable: return
            case .absent, .damaged: break
            }
            var named = [trust.bundled, trust.outside, stored.outside].map { $0?.list.logs } + [inForce?.listed]
            if self.hasPinsNamingLogs {
                let wanted = stored.inForce?.held.list.logs
                if let wanted, self.readableLogs(wanted, embedded: embedded) == nil {
                    do throws(Finding) { named.append(try self.pinsNamingLogs(under: stored)?.logs) } catch {
                        if error.kind == .stateUnreadable { return }
                        // Under a root that is fetched again it may verify.
                        if !problems.isDamaged { try self.store.remove(.pinsNamingLogs) }
                    }
                } else {
                    try self.store.remove(.pinsNamingLogs)
                }
            }
            let digests = Set(named.compactMap { $0?.digest })
            // A store of the app's own may list files that are none.
            for digest in self.store.logDigests() where ListedLogs.isDigest(digest) && !digests.contains(digest) {
                try self.store.remove(.logs(digest))
            }
        }
    }

    private var hasPinsNamingLogs: Bool {
        self.store.read(.pinsNamingLogs, maximumBytes: self.limits.listBytes) != .absent
    }
}
