// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// What a refused envelope that a client sent says, once its signatures hold under a root that was published. Reports can
/// be made up; this cannot.
enum EquivocationCheck: Hashable, Sendable {
    /// It was published here, or looked at before.
    case known
    /// Its version is from before the first that was published here: the service cannot know what was published then.
    case fromBefore
    /// Its version was published here, with another payload.
    case otherList
    /// Its version was never published here.
    case neverPublished
    /// There is evidence enough of this name and day: it is counted among the reports alone.
    case beyondQuota

    /// The most envelopes of one version that are compared: those of a list that was signed again and again.
    static let mostEnvelopes = 16

    /// The most envelopes of a name and UTC day that are kept as evidence. Each is a list that our signers signed, and
    /// the first ones say what is to be said.
    static let mostADay: Int64 = 16

    /// Looks.
    ///
    /// - Parameters:
    ///   - list: The list in an envelope whose signatures hold.
    ///   - payload: The digest of its payload.
    ///   - store: What was published and what is evidence already.
    ///   - now: The time.
    init(_ list: PinList, payload: String, in store: StoreTransaction, at now: Timestamp) throws {
        let sameVersion = try store.envelopes(of: list.version, name: list.name, limit: Self.mostEnvelopes)
        if try store.hasEvidence(payload) || sameVersion.contains(where: { Self.payloadDigest($0) == payload }) {
            self = .known
        } else if try store.evidenceCount(of: list.name, since: Self.day(of: now)) >= Self.mostADay {
            self = .beyondQuota
        } else if !sameVersion.isEmpty {
            self = .otherList
        } else if let first = try store.firstVersion(of: list.name), list.version < first {
            self = .fromBefore
        } else {
            self = .neverPublished
        }
    }

    /// The action of the audit log; `nil` when there is nothing to say.
    var action: String? {
        switch self {
        case .known: nil
        case .fromBefore: "unknown-list"
        case .otherList, .neverPublished: "equivocation"
        case .beyondQuota: "evidence-full"
        }
    }

    /// What the audit log says, in a sentence without a full stop that begins with the name.
    func detail(_ list: PinList, payload: String) -> String {
        let (name, version) = (list.name, list.version)
        switch self {
        case .known: return ""
        case .fromBefore:
            return
                "\(name): a client was offered list version \(version), signed by our signers, from before the first "
                + "that was published here; it is unknown here, payload \(payload)"
        case .otherList:
            return "\(name): a client was offered another list of version \(version), signed by our signers, "
                + "payload \(payload)"
        case .neverPublished:
            return "\(name): a client was offered list version \(version), signed by our signers and never published "
                + "here, payload \(payload)"
        case .beyondQuota:
            return "\(name): clients were offered more than \(Self.mostADay) unpublished lists today, signed by our "
                + "signers; further ones are counted in the reports and not kept"
        }
    }

    /// The digest of the payload of a list's envelope; `nil` for anything else.
    static func payloadDigest(_ envelope: [UInt8]) -> String? {
        (try? Envelope(envelope, of: .pins, limits: MetadataLimits())).map { Envelope.digest(of: $0.payload) }
    }

    /// When the UTC day of a time begins.
    static func day(of now: Timestamp) -> Timestamp {
        Timestamp(secondsSince1970: now.hour / 24 * 86_400)
    }
}

/// Payloads that were looked at with valid signatures, so that a report with one of them costs no signature check.
///
/// It holds what our signers signed alone: a stranger adds nothing to it, and pushes nothing out of it.
struct KnownPayloads: Sendable {
    /// The most digests of each of the two halves, of which the older is dropped when the newer is full: 64 days of evidence
    /// at the most a day.
    static let most = 1_024

    private var newer: [String: Timestamp] = [:]
    private var older: [String: Timestamp] = [:]

    /// Whether a payload needs no look at a time.
    func contains(_ digest: String, at now: Timestamp) -> Bool {
        (self.newer[digest] ?? self.older[digest]).map { now < $0 } ?? false
    }

    /// Remembers a payload.
    ///
    /// - Parameter end: From when on it is looked at again.
    mutating func insert(_ digest: String, until end: Timestamp) {
        if self.newer.count >= Self.most {
            self.older = self.newer
            self.newer = [:]
        }
        self.newer[digest] = end
    }
}
