// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata
internal import PinRotation

/// Which keys of the newest list could be deployed: for each, the share of the last period's requests whose list
/// refuses it, measured as the gate does (formats.md, section 8).
///
/// A whole chain may still be refused for other reasons: `tumbler gate` looks at the chain.
struct DeployableKeys: Sendable {
    /// What is known of one key.
    enum Judgement: Hashable, Sendable {
        /// So many refuse it, 0 to 1.
        case refused(share: Double)
        /// Nothing was measured: why.
        case notMeasured(String)
        /// A key alone does not say it: why.
        case needsChain(String)
    }

    /// The most lists that are looked at, those that were named most often. Who holds another one counts as refusing.
    static let mostLists = 32

    /// From what it is said, in a sentence; empty when nothing is measured.
    let measured: String

    private let requests: Int64
    private let held: [(rules: ListRules, requests: Int64)]
    /// Why nothing is measured; `nil` when it is.
    private let why: String?

    /// Prepares the lists that installations hold.
    ///
    /// - Parameters:
    ///   - count: What was counted.
    ///   - lists: The lists that are at hand, by version.
    ///   - now: The time.
    init(_ count: HeldCount, lists: [Int64: PinList], at now: Timestamp) {
        self.requests = count.requests
        self.why = count.why
        self.measured =
            count.why != nil
            ? ""
            : "Which keys are safe to deploy is measured from \(count.requests) requests of the last "
                + "\(count.period / 3_600) hours: a key is safe when at most "
                + "\(Share.percent(GateRules.usualMaxRefusing / 100)) of them name a list that refuses it, or one that "
                + "is not known here. Ask tumbler gate with the whole chain before it goes live."
        self.held =
            count.why != nil
            ? []
            : count.versions.compactMap { version, requests in
                guard let list = lists[version], let rules = try? ListRules(list, at: now) else { return nil }
                return (rules, requests)
            }
    }

    /// What is known of a pin of an entry.
    func judgement(of known: KnownPin, in entry: PinnedDomain) -> Judgement {
        guard known.pin.kind == .publicKey else {
            return .needsChain("it pins one certificate, not a key; ask tumbler gate with its file")
        }
        guard known.position.covers(index: 0) else {
            return .needsChain("it is the key of an issuer; ask tumbler gate with a chain under it")
        }
        guard !entry.requireIssuer else {
            return .needsChain("the entry requires a pin of the issuer as well; ask tumbler gate with the chain")
        }
        if let why { return .notMeasured(why) }
        guard self.requests > 0 else { return .notMeasured("nobody asked") }
        // In hundredths of requests; those that name a list which is not at hand count as refusing.
        var refusing = Double(self.requests - self.held.reduce(0) { $0 + $1.requests }) * 100
        for (rules, requests) in self.held {
            let conclusion = rules.conclusion(on: .key(known.pin), for: entry.domain)
            refusing += Double(requests) * Double(conclusion.percent)
        }
        return .refused(share: min(max(refusing / (Double(self.requests) * 100), 0), 1))
    }
}

extension StoreTransaction {
    /// What is known of the keys of a list: what was counted, and the lists that were named most often.
    func deployableKeys(of name: String, versions: [String: Int64], window: Int64, at now: Timestamp) throws
        -> DeployableKeys
    {
        let inquiries = try self.inquiries(of: name, windows: 1, of: HeldCount.hours(of: window), until: now.hour)
        let count = HeldCount(inquiries.first ?? [:], versions: versions, window: window, at: now)
        var lists: [Int64: PinList] = [:]
        let named = count.versions.sorted { ($1.value, $1.key) < ($0.value, $0.key) }
        for (version, _) in named.prefix(count.why == nil ? DeployableKeys.mostLists : 0) {
            guard let envelope = try self.envelopes(of: version, name: name, limit: 1).first,
                let read = try? Envelope(envelope, of: .pins, limits: MetadataLimits())
            else { continue }
            // It was verified when it was published.
            lists[version] = try? PinList(payload: read.payload)
        }
        return DeployableKeys(count, lists: lists, at: now)
    }
}
