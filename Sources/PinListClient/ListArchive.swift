// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinListMetadata

/// Loads the trust state of a client from its store, and stores it there. All stored files are verified.
struct ListArchive: Sendable {
    /// A finding about a stored file, for people.
    struct Finding: Error, Hashable {
        let kind: PinningEvent.Kind
        let detail: String
    }

    let store: any StateStore
    let limits: MetadataLimits

    /// Loads the roots that follow the shipped one, then the list.
    ///
    /// - Returns: The findings. While a file cannot be read, nothing may be written either.
    func load(into trust: inout TrustState) -> [Finding] {
        var findings: [Finding] = []
        self.loadRoots(into: &trust, &findings)
        switch self.store.read(.pins, maximumBytes: self.limits.listBytes) {
        case .absent: break
        case .unreadable(let reason): findings.append(Self.unreadable(.pins, reason))
        case .damaged(let reason): findings.append(Self.damaged(.pins, reason))
        case .bytes(let bytes):
            do { try trust.load(list: bytes) } catch { findings.append(Self.damaged(.pins, error.description)) }
        }
        return findings
    }

    /// Loads the roots up to the first that is missing or does not verify.
    func loadRoots(into trust: inout TrustState, _ findings: inout [Finding]) {
        while true {
            let file = StateFile.root(trust.chain.newest.version + 1)
            switch self.store.read(file, maximumBytes: self.limits.rootBytes) {
            case .absent: return
            case .unreadable(let reason): return findings.append(Self.unreadable(file, reason))
            case .damaged(let reason): return findings.append(Self.damaged(file, reason))
            case .bytes(let bytes):
                do { try trust.load(root: bytes) } catch {
                    return findings.append(Self.damaged(file, error.description))
                }
            }
        }
    }

    /// Stores the trust state; or, where another process stored a newer list, adopts that.
    ///
    /// - Parameters:
    ///   - trust: The trust state.
    ///   - embedded: The log list that the app ships.
    /// - Throws: ``StateStoreError``; the trust state stays valid in memory.
    func persist(_ trust: inout TrustState, embedded: [UInt8]?) throws(StateStoreError) {
        try self.store.withLock { () throws(StateStoreError) in
            try self.adopt(&trust)
            for held in trust.chain.held.dropFirst() {
                try self.replace(.root(held.root.version), held.bytes, self.limits.rootBytes)
            }
            try self.keepPinsNamingLogs(before: trust, embedded: embedded)
            if let outside = trust.outside { try self.replace(.pins, outside.bytes, self.limits.listBytes) }
        }
    }

    private func replace(_ file: StateFile, _ bytes: [UInt8], _ limit: Int) throws(StateStoreError) {
        switch self.store.read(file, maximumBytes: limit) {
        case .bytes(bytes): return
        case .unreadable(let reason): throw StateStoreError("cannot read \(file.path): \(reason)")
        default: try self.store.write(bytes, to: file)
        }
    }

    /// Adopts a list that another process stored meanwhile, where it is newer, or has a signature that ours lacks.
    private func adopt(_ trust: inout TrustState) throws(StateStoreError) {
        var mine = trust
        var findings: [Finding] = []
        self.loadRoots(into: &mine, &findings)
        var theirs = mine
        switch self.store.read(.pins, maximumBytes: self.limits.listBytes) {
        case .unreadable(let reason): throw StateStoreError("cannot read \(StateFile.pins.path): \(reason)")
        case .bytes(let bytes): try? theirs.load(list: bytes)
        case .absent, .damaged: break
        }
        guard let stored = theirs.outside else { return trust = mine }
        let isTakenOver = mine.outside.map {
            stored.isNewer(than: $0) || $0.lacksSignature(of: stored, under: mine.chain)
        }
        trust = isTakenOver ?? true ? theirs : mine
    }

    /// The finding that a file is damaged.
    static func damaged(_ file: StateFile, _ reason: String) -> Finding {
        Finding(kind: .stateDamaged, detail: "\(file.path) is left aside: \(reason)")
    }

    /// The finding that a file cannot be read now.
    static func unreadable(_ file: StateFile, _ reason: String) -> Finding {
        Finding(kind: .stateUnreadable, detail: "\(file.path) cannot be read: \(reason)")
    }
}
