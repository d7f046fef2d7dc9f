// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata

extension PinList {
    /// The room that is left in an envelope for what stands around the payload, in bytes: as many signatures as clients
    /// read, each as long as the longest of the known algorithms is in base64, with its key id. Not those of the newest
    /// root's keys alone: a list is signed for the root to come as well, and signed again while it is served.
    static let signatureRoom: Int = {
        let maximum = MetadataKey.Algorithm.allCases.compactMap(\.signatureLength).max() ?? 0
        let members = 96 + (maximum + 2) / 3 * 4
        return 128 + MetadataLimits.signatures * members
    }()

    /// The list that a source says, as of a time. It is not signed.
    ///
    /// Suspensions that have ended are left out: the format has no place for them, and the source may keep them.
    ///
    /// - Parameters:
    ///   - source: The source of the list.
    ///   - newest: The newest list that is known; the version is the next one. Without any it is 1.
    ///   - time: The time of issue; `expiresAt` and the suspensions are counted from here.
    /// - Throws: ``RepositoryError`` of code `source`, with what to change.
    public init(
        building source: ListSource, after newest: PinList?, at time: Timestamp
    ) throws(RepositoryError) {
        if let newest, newest.name != source.name {
            throw RepositoryError(
                .source, "\(source.file): the name is \(source.name), and the newest list is \(newest.name)",
                hint: "a list keeps its name; a project with another one begins with tumbler init")
        }
        let version = (newest?.version ?? 0) + 1
        guard version <= MetadataLimits.version else {
            throw RepositoryError(
                .metadata, "there is no version after \(newest?.version ?? 0)",
                hint: "a root without the key that signed such a version frees the versions again")
        }
        for suspension in source.suspended {
            let seconds = suspension.value.until.secondsSince1970 - time.secondsSince1970
            guard seconds <= MetadataLimits.suspensionSeconds else {
                throw suspension.position.error(
                    "the suspension of \(suspension.value.scope) ends over 7 days from now",
                    hint: "until may be at most \(time.adding(MetadataLimits.suspensionSeconds))")
            }
        }
        self.init(
            name: source.name, version: version, issuedAt: time, expiresAt: time.adding(source.validFor),
            refreshAfter: source.refreshAfter, reportTo: source.reportTo,
            reportPerMillion: source.reportPerMillion, logs: source.logs?.listed, domains: source.domains.map(\.domain),
            denied: source.denied.map(\.value), revoked: source.revoked.map(\.value),
            suspended: source.suspended.map(\.value).filter { $0.until > time }, unlisted: source.unlisted)
        try self.check(source)
    }

    /// Reads the payload back, exactly as a client will: what it would refuse must not be signed.
    private func check(_ source: ListSource) throws(RepositoryError) {
        let payload = self.payload
        let maximum = MetadataLimits().listBytes - Self.signatureRoom
        guard (payload.count + 2) / 3 * 4 <= maximum else {
            throw RepositoryError(
                .source, "\(source.file): the list would be over \(MetadataLimits().listBytes) bytes when it is signed",
                hint: "shorten the notes and reasons, or part the domains into two lists")
        }
        do {
            let read = try PinList(payload: payload)
            guard read == self else { throw MetadataError(.pins, .malformed, "it reads back as another list") }
        } catch let refusal as MetadataError {
            throw RepositoryError(
                .source, "\(source.file): clients would refuse this list: \(refusal.detail)",
                hint: "change the member that is named")
        } catch {
            throw RepositoryError(.source, "\(source.file): clients would refuse this list")
        }
    }
}

extension Timestamp {
    /// The time so many seconds later, no later than the last one that can be written.
    func adding(_ seconds: Int64) -> Timestamp {
        let (sum, overflow) = self.secondsSince1970.addingReportingOverflow(seconds)
        return Timestamp(secondsSince1970: overflow ? self.secondsSince1970 : min(sum, 253_402_300_799))
    }
}
