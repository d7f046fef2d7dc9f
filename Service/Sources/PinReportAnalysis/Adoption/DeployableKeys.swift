// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
package import PinListMetadata
internal import PinRotation

/// The keys of the newest list that could be deployed: for each, the share of the last period's requests whose list
/// refuses it, measured as the gate does (formats.md, section 8).
///
/// A whole chain may still be refused for other reasons: `tumbler gate` looks at the chain.
package struct DeployableKeys: Sendable {
    /// The evaluation of one key.
    package enum Evaluation: Hashable, Sendable {
        /// So many refuse it, 0 to 1.
        case refused(share: Double)
        /// No measurement: why.
        case notMeasured(String)
        /// A key alone does not say it: why.
        case needsChain(String)
    }

    /// The maximum number of lists that are looked at, those that were named most often. An installation that holds
    /// another one counts as refusing.
    static let maximumLists = 32

    /// The measurement behind it, in a sentence; empty when nothing is measured.
    package let measured: String

    private let requests: Int64
    /// Hundredths of requests whose list refuses a key of an entry, of the lists that were looked at.
    private var refusing: [Question: Double] = [:]
    /// Requests that name one of the lists that were looked at.
    private var known: Int64 = 0
    /// The reason for which nothing is measured; `nil` when it is.
    private let why: String?

    /// A key of an entry.
    private struct Question: Hashable {
        let pin: Pin
        let host: HostName
    }

    /// Evaluates the lists that installations hold, one after the other: a list may take tens of megabytes in memory.
    ///
    /// - Parameters:
    ///   - count: The counts.
    ///   - entries: Whose keys are asked about.
    ///   - now: The time.
    ///   - read: Reads the list of a version; `nil` where it is not at hand.
    package init(
        _ count: HeldCount, of entries: [PinnedDomain], at now: Timestamp, list read: (Int64) throws -> PinList?
    ) rethrows {
        self.requests = count.requests
        self.why = count.why
        self.measured =
            count.why != nil
            ? ""
            : "Which keys are safe to deploy is measured from \(count.requests) requests of the last "
                + "\(count.period / 3_600) hours: a key is safe when at most "
                + "\(Share.percent(GateRules.usualMaxRefusing / 100)) of them name a list that refuses it, or one that "
                + "is not known here. Ask tumbler gate with the whole chain before it goes live."
        guard count.why == nil else { return }
        let named = count.versions.sorted { ($1.value, $1.key) < ($0.value, $0.key) }
        for (version, requests) in named.prefix(Self.maximumLists) {
            guard let list = try read(version), let rules = try? ListRules(list, logs: .notAsked, at: now)
            else { continue }
            self.known += requests
            for entry in entries {
                // Two pins of one key are one question.
                for pin in Set(entry.pins.map(\.pin)) where pin.kind == .publicKey {
                    let percent = rules.conclusion(on: .key(pin), for: entry.domain).percent
                    guard percent > 0 else { continue }
                    self.refusing[Question(pin: pin, host: entry.domain), default: 0] +=
                        Double(requests) * Double(percent)
                }
            }
        }
    }

    /// The evaluation of a pin of an entry.
    package func evaluation(of known: KnownPin, in entry: PinnedDomain) -> Evaluation {
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
        guard self.requests > 0 else { return .notMeasured("no requests were counted") }
        // In hundredths of requests; those that name a list which is not at hand count as refusing.
        let refusing =
            Double(self.requests - self.known) * 100
            + (self.refusing[Question(pin: known.pin, host: entry.domain)] ?? 0)
        return .refused(share: min(max(refusing / (Double(self.requests) * 100), 0), 1))
    }
}
