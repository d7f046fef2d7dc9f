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
        /// The root or the list that it is about.
        var file: StateFile?
    }

    let store: any StateStore
    let limits: MetadataLimits

    /// Loads what is stored: the roots that follow those held, then the list, where it is newer than the held one or has a
    /// signature that the held one lacks.
    ///
    /// - Returns: The findings. While a file cannot be read, nothing may be written either.
    func load(into trust: inout TrustState) -> [Finding] {
        var findings: [Finding] = []
        self.loadRoots(into: &trust, &findings)
        let unreadableRoot = findings.unreadable
        switch self.store.read(.pins, maximumBytes: self.limits.listBytes) {
        case .absent: break
        case .unreadable(let reason): findings.append(Self.unreadable(.pins, reason))
        case .damaged(let reason): findings.append(Self.damaged(.pins, reason))
        case .bytes(let bytes) where bytes == trust.outside?.bytes: break
        case .bytes(let bytes):
            do { try self.take(bytes, into: &trust) } catch {
                // It may verify under the root that cannot be read now.
                if unreadableRoot == nil { findings.append(Self.damaged(.pins, error.description)) }
            }
        }
        return findings
    }

    private func take(_ bytes: [UInt8], into trust: inout TrustState) throws(MetadataError) {
        var stored = trust
        try stored.load(list: bytes)
        if let mine = trust.outside, let theirs = stored.outside, !theirs.isNewer(than: mine),
            !mine.lacksSignature(of: theirs, under: trust.chain)
        {
            return
        }
        trust = stored
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

    /// The first of the roots held after the shipped one whose file is there and cannot be read now.
    func unreadableRoot(heldIn trust: TrustState) -> Finding? {
        for held in trust.chain.held.dropFirst() {
            let file = StateFile.root(held.root.version)
            if case .unreadable(let reason) = self.store.read(file, maximumBytes: self.limits.rootBytes) {
                return Self.unreadable(file, reason)
            }
        }
        return nil
    }

    /// Stores the trust state; or, where another process stored a newer list, adopts that.
    ///
    /// - Parameters:
    ///   - trust: The trust state.
    ///   - embedded: The log list that the app ships.
    /// - Throws: ``StateStoreError``; the trust state stays valid in memory. Where a root or the list that is there
    ///   cannot be read, nothing is written: it may be newer.
    func persist(_ trust: inout TrustState, embedded: [UInt8]?) throws(StateStoreError) {
        try self.writing { () throws(StateStoreError) in
            if let unreadable = self.load(into: &trust).unreadable { throw StateStoreError(unreadable: unreadable) }
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
        case .unreadable(let reason): throw StateStoreError(unreadable: Self.unreadable(file, reason))
        default: try self.store.write(bytes, to: file)
        }
    }

    /// Removes what is stored and does not verify: the list, or puts the held one in its place; and the roots that follow the
    /// newest held one. Else each start would find them again.
    ///
    /// Stays: what cannot be read now, all that is there while something cannot be read, and what another process stored
    /// meanwhile and verifies.
    func removeDamaged(under trust: TrustState) throws(StateStoreError) {
        try self.writing { () throws(StateStoreError) in
            var stored = trust
            let findings = self.load(into: &stored)
            guard findings.unreadable == nil else { return }
            var root = StateFile.root(stored.chain.newest.version + 1)
            while case .root(let version) = root, self.isThere(root, self.limits.rootBytes) {
                try self.store.remove(root)
                root = .root(version + 1)
            }
            guard findings.contains(where: { $0.file == .pins }) else { return }
            if let outside = stored.outside {
                try self.replace(.pins, outside.bytes, self.limits.listBytes)
            } else {
                try self.store.remove(.pins)
            }
        }
    }

    private func isThere(_ file: StateFile, _ limit: Int) -> Bool {
        switch self.store.read(file, maximumBytes: limit) {
        case .absent, .unreadable: false
        case .bytes, .damaged: true
        }
    }

    /// Runs a closure while no other process writes here, and where no newer version of this library keeps its state: it may
    /// have begun to since this process did.
    func writing(_ body: () throws(StateStoreError) -> Void) throws(StateStoreError) {
        try self.store.withLock { () throws(StateStoreError) in
            if case .bytes(let bytes) = self.store.read(.state, maximumBytes: RefreshState.maximumBytes),
                RefreshState.isNewer(bytes)
            {
                throw StateStoreError(newer: .state)
            }
            try body()
        }
    }

    /// The finding that a file is damaged.
    static func damaged(_ file: StateFile, _ reason: String) -> Finding {
        Finding(kind: .stateDamaged, detail: "\(file.path) is left aside: \(reason)", file: file)
    }

    /// The finding that a file cannot be read now.
    static func unreadable(_ file: StateFile, _ reason: String) -> Finding {
        Finding(kind: .stateUnreadable, detail: "\(file.path) cannot be read: \(reason)", file: file)
    }

    /// The finding that a newer version of this library wrote a file.
    static func newer(_ file: StateFile) -> Finding {
        Finding(kind: .stateNewer, detail: "a newer version keeps its state here: it wrote \(file.path)", file: file)
    }
}

extension [ListArchive.Finding] {
    /// The first file that is there and cannot be read now.
    var unreadable: ListArchive.Finding? { self.first { $0.kind == .stateUnreadable } }

    /// Whether a root or a list is damaged.
    var isDamaged: Bool { self.contains { $0.kind == .stateDamaged } }
}
