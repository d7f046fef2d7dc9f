// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Logging
internal import NIOConcurrencyHelpers
internal import PinListMetadata
internal import PinListStore
internal import PinReportAnalysis

/// Reads the envelopes of list incidents, and writes what they prove into the audit log, once for each payload.
struct EquivocationWatch: Sendable {
    let store: any ServiceStore
    let lists: ServedLists
    let logger: Logger
    private let known = NIOLockedValueBox(KnownPayloads())

    init(store: any ServiceStore, lists: ServedLists, logger: Logger) {
        self.store = store
        self.lists = lists
        self.logger = logger
    }

    /// The maximum number of bytes of envelopes that are looked at at a time, four of the largest: a look holds the
    /// envelope, and a store that is slow holds up looks.
    static let maximumBytes = 16_777_216

    /// Bytes of envelopes that are looked at now.
    private let held = NIOLockedValueBox(0)

    /// The error that there is no room for an envelope: too many are looked at.
    struct CongestionError: Error {}

    /// Examines a report. What is thrown says that it was not, and it has to come again: its sender alone has the envelope.
    ///
    /// - Throws: ``CongestionError``; the error of the store.
    func look(at report: CollectedReport, _ now: Timestamp) async throws {
        guard report.kind == .incident, let envelope = report.envelope else { return }
        let count = envelope.count
        guard self.take(count) else { throw CongestionError() }
        defer { self.held.withLockedValue { $0 -= count } }
        try await self.examine(envelope, report, now)
    }

    /// Makes room for an envelope.
    ///
    /// - Returns: Whether there was any. Otherwise nothing was taken.
    private func take(_ count: Int) -> Bool {
        self.held.withLockedValue { held in
            guard held + count <= Self.maximumBytes else { return false }
            held += count
            return true
        }
    }

    private func examine(_ envelope: [UInt8], _ report: CollectedReport, _ now: Timestamp) async throws {
        guard let name = report.list.name, let published = self.lists.names[name]?.published else { return }
        // A payload that was published or checked already says nothing new, also when this spelling has no valid
        // signature.
        guard !self.lists.isPublished(Envelope.digest(of: envelope), under: name),
            let payload = EquivocationCheck.payloadDigest(envelope),
            !self.known.withLockedValue({ $0.contains(payload, at: now) })
        else { return }
        // Signatures next: an envelope without any costs no look into the store.
        guard let list = published.signedList(envelope), list.name == name else { return }
        do {
            var found = try await self.store.read(for: .stranger) {
                try EquivocationCheck(list, payload: payload, in: $0, at: now)
            }
            if found != .known {
                found = try await self.store.write { try $0.keep(envelope, list, payload: payload, at: now) }
            }
            let (today, tomorrow) = (EquivocationCheck.day(of: now), EquivocationCheck.day(of: now.before(-86_400)))
            let times = found == .beyondQuota ? today..<tomorrow : Timestamp.distantBegin..<Timestamp.distantEnd
            self.known.withLockedValue { $0.insert(payload, during: times) }
        } catch {
            self.logger.storeFailed("an envelope in a report could not be looked at", error)
            throw error
        }
    }
}

extension Timestamp {
    /// A time before all others.
    fileprivate static let distantBegin = Timestamp(secondsSince1970: .min)
    /// A time that never comes.
    fileprivate static let distantEnd = Timestamp(secondsSince1970: .max)
}

extension StoreTransaction {
    /// Keeps an envelope as evidence and writes into the audit log what it says, where it says anything new.
    ///
    /// - Returns: The result of the check. Another instance may have kept it since the store was read.
    fileprivate func keep(
        _ envelope: [UInt8], _ list: PinList, payload: String, at now: Timestamp
    ) throws -> EquivocationCheck {
        let found = try EquivocationCheck(list, payload: payload, in: self, at: now)
        guard let action = found.action else { return found }
        let detail = found.detail(list, payload: payload)
        if found == .beyondQuota {
            // Once a day.
            let start = EquivocationCheck.day(of: now)
            let today = try self.auditEntries(of: [action], since: start).filter { $0.time < start.before(-86_400) }
            guard !today.contains(where: { $0.detail == detail }) else { return found }
        } else {
            try self.addEvidence(payload, of: list.name, envelope, at: now)
        }
        try self.log(action, detail, by: "report", at: now)
        return found
    }
}

extension EquivocationCheck {
    /// Looks a list up in the store, and classifies it.
    ///
    /// - Parameters:
    ///   - list: The list in an envelope whose signatures hold.
    ///   - payload: The digest of its payload.
    ///   - store: The store of publications and evidence.
    ///   - now: The time.
    init(_ list: PinList, payload: String, in store: StoreTransaction, at now: Timestamp) throws {
        let sameVersion = try store.envelopes(of: list.version, name: list.name, limit: Self.maximumEnvelopes)
        if try store.hasEvidence(payload) || sameVersion.contains(where: { Self.payloadDigest($0) == payload }) {
            self = .known
            return
        }
        self.init(
            ofUnknown: list.version, isPublishedVersion: !sameVersion.isEmpty,
            firstVersion: try store.firstVersion(of: list.name),
            evidence: try store.evidenceCount(of: list.name, onDayOf: Self.day(of: now)))
    }
}
