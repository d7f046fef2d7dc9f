// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
package import PinListMetadata

/// The meaning of a refused envelope that a client sent, once its signatures hold under a root that was published.
/// Reports can be made up; this cannot.
package enum EquivocationCheck: Hashable, Sendable {
    /// The list was published here, or looked at before.
    case known
    /// The version is from before the first that was published here: the service cannot know what was published then.
    case fromBefore
    /// The version was published here, with another payload.
    case otherList
    /// The version was never published here.
    case neverPublished
    /// The evidence of this name and day is enough: it is counted among the reports alone.
    case beyondQuota

    /// The maximum number of envelopes of one version that are compared: those of a list that was signed again and
    /// again.
    package static let maximumEnvelopes = 16

    /// The maximum number of envelopes of a name and UTC day that are kept as evidence. Each is a list that our signers
    /// signed, and the first ones say what is to be said.
    static let maximumPerDay: Int64 = 16
    /// The maximum number of them that are from before the first list here: what many may have, and is a notice alone, leaves
    /// room for what is an alarm.
    static let maximumFromBefore: Int64 = 8

    /// Says what a list is whose payload is neither published here nor evidence already.
    ///
    /// - Parameters:
    ///   - version: Its version.
    ///   - isPublishedVersion: Whether a list of that version was published under its name.
    ///   - firstVersion: The version of the first list that was published under its name; `nil` for none.
    ///   - evidence: The number of envelopes of its name that are evidence since the UTC day began.
    package init(
        ofUnknown version: Int64, isPublishedVersion: Bool, firstVersion: Int64?, evidence: Int64
    ) {
        let found: Self
        if isPublishedVersion {
            found = .otherList
        } else if let firstVersion, version < firstVersion {
            found = .fromBefore
        } else {
            found = .neverPublished
        }
        let maximum = found == .fromBefore ? Self.maximumFromBefore : Self.maximumPerDay
        self = evidence < maximum ? found : .beyondQuota
    }

    /// The action of the audit log; `nil` when there is nothing to say.
    package var action: String? {
        switch self {
        case .known: nil
        case .fromBefore: "unknown-list"
        case .otherList, .neverPublished: "equivocation"
        case .beyondQuota: "evidence-full"
        }
    }

    /// The detail in the audit log, in a sentence without a full stop that begins with the name.
    package func detail(_ list: PinList, payload: String) -> String {
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
            return
                "\(name): clients were offered more unpublished lists today, signed by our signers, than are kept; further "
                + "ones are counted in the reports alone"
        }
    }

    /// The version of the list that a detail is about, in digits; `nil` for other texts.
    static func version(ofDetail detail: String) -> String? {
        guard let word = detail.firstRange(of: "version ") else { return nil }
        let digits = detail[word.upperBound...].prefix { $0.isNumber }
        return digits.isEmpty ? nil : String(digits)
    }

    /// The digest of the payload of a list's envelope; `nil` for anything else.
    package static func payloadDigest(_ envelope: [UInt8]) -> String? {
        (try? Envelope(envelope, of: .pins, limits: MetadataLimits())).map { Envelope.digest(of: $0.payload) }
    }

    /// The time at which the UTC day of a time begins.
    package static func day(of now: Timestamp) -> Timestamp {
        Timestamp(secondsSince1970: now.hour / 24 * 86_400)
    }
}

/// Payloads that were looked at with valid signatures, so that a report with one of them costs no signature check.
///
/// It holds what our signers signed alone: a stranger adds nothing to it, and pushes nothing out of it.
package struct KnownPayloads: Sendable {
    /// The maximum number of digests of each of the two halves, of which the older is dropped when the newer is full:
    /// 64 days of evidence at the most a day.
    package static let maximum = 1_024

    private var newer: [String: Range<Timestamp>] = [:]
    private var older: [String: Range<Timestamp>] = [:]

    /// Knows none.
    package init() {}

    /// Whether a payload needs no look at a time.
    package func contains(_ digest: String, at now: Timestamp) -> Bool {
        (self.newer[digest] ?? self.older[digest])?.contains(now) ?? false
    }

    /// Remembers a payload.
    ///
    /// - Parameter times: The times at which it is not checked again. They have a begin: a clock that was ahead may be right
    ///   again.
    package mutating func insert(_ digest: String, during times: Range<Timestamp>) {
        if self.newer.count >= Self.maximum {
            self.older = self.newer
            self.newer = [:]
        }
        self.newer[digest] = times
    }
}
