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
        /// The event for people.
        var findings: [Finding] = []
    }

    /// The log list that a list names, as it is stored or embedded, or the one that was in force before.
    ///
    /// A stored file is not trusted: it counts only when a held list names it and its length and digest match.
    ///
    /// - Parameters:
    ///   - trust: The trust state: the list in force, and the other held ones.
    ///   - embedded: The log list that the app ships.
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
            found.findings.append(
                Finding(kind: .logsUnreadable, detail: "the log list cannot be read: \(reason)"))
        case .absent, .damaged:
            found.isWanted = true
            found.findings.append(
                Finding(kind: .logsMissing, detail: "the log list of version \(list.version) is not there yet"))
        }
        found.inForce = before ?? self.otherLogs(of: trust, than: listed, embedded: embedded)
        return found
    }

    /// The log list of another list that is held, after a start.
    private func otherLogs(of trust: TrustState, than listed: ListedLogs, embedded: [UInt8]?) -> LogsInForce? {
        for other in [trust.outside, trust.bundled].compactMap({ $0?.list.logs }) where other != listed {
            guard case .bytes(let bytes) = self.file(other, embedded: embedded) else { continue }
            if let logs = try? LogsInForce(bytes, listed: other) { return logs }
        }
        return nil
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
        try self.store.withLock { () throws(StateStoreError) in
            if case .bytes(bytes) = self.store.read(.logs(listed.digest), maximumBytes: listed.length) { return }
            try self.store.write(bytes, to: .logs(listed.digest))
        }
    }

    /// Removes the log lists that no held list names: held by this process, or stored by another process meanwhile.
    func removeLogs(unnamedIn trust: TrustState) throws(StateStoreError) {
        guard !self.store.logDigests().isEmpty else { return }
        try self.store.withLock { () throws(StateStoreError) in
            var stored = trust
            if case .bytes(let bytes) = self.store.read(.pins, maximumBytes: self.limits.listBytes) {
                try? stored.load(list: bytes)
            }
            let held = [trust.bundled, trust.outside, stored.outside]
            let named = Set(held.compactMap { $0?.list.logs?.digest })
            for digest in self.store.logDigests() where !named.contains(digest) {
                try self.store.remove(.logs(digest))
            }
        }
    }
}
