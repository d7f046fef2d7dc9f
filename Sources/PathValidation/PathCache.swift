// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import CertificatePinning
import Crypto

/// Paths that were validated lately: for a chain that was validated before, the same host and the same roots, the
/// certificates' signatures are not checked again.
///
/// A value, and only the path is kept: pins, the deny set and the handshake's own signature are evaluated at every
/// connection. An entry is used while all certificates of its path are valid, for a day at most.
///
/// Refusals that took over half of a limit are kept for a minute, in a room of their own, so that a peer which presents
/// the same costly chain again and again is refused for nothing. One that the time, the host's name or the deadline decided
/// is not kept: it may be another the next time.
public struct PathCache: Sendable {
    /// What a path was found for: a hash over everything that the search depends on, but the time.
    public struct Key: Hashable, Sendable {
        private let digest: [UInt8]

        /// The key of a presented chain.
        ///
        /// - Parameters:
        ///   - presented: Certificates in DER, the leaf first, as they are given to the validator.
        ///   - identity: Whose certificate the leaf must be.
        ///   - roots: The digest of the root store.
        ///   - limits: The validator's limits.
        ///   - revocation: The digest of its revocation lists, and what is demanded of them; `nil` for none.
        public init(
            presented: [[UInt8]], identity: ServerIdentity, roots: [UInt8], limits: PathLimits,
            revocation: (digest: [UInt8], demand: RevocationCheck.Demand)? = nil
        ) {
            // Which kind of identity comes first, as a number: "anybody" is a host's name, too.
            let kind: UInt8
            var name = ""
            switch identity {
            case .uncheckedName: kind = 0
            case .noServer: kind = 3
            case .host(let host):
                kind = host.isAddress ? 1 : 2
                name = host.description
            }
            let lists = revocation.map { [$0.digest, Array($0.demand.rawValue.utf8)] } ?? []
            var hash = SHA256()
            for part in [[kind, UInt8(lists.count)], Array(name.utf8), roots, Array(limits.description.utf8)] + lists {
                hash.update(length: part.count)
                hash.update(data: part)
            }
            for certificate in presented {
                hash.update(length: certificate.count)
                hash.update(data: certificate)
            }
            self.digest = Array(hash.finalize())
        }
    }

    private struct Entry {
        let path: ValidatedPath
        let period: ClosedRange<Timestamp>
        var use: UInt64
    }

    /// The most entries.
    public static let capacity = 1_024
    /// The longest that an entry is used, in seconds.
    public static let lifetime: Int64 = 86_400
    /// The most refusals.
    public static let refusalCapacity = 256
    /// The longest that a refusal is used, in seconds.
    public static let refusalLifetime: Int64 = 60

    private var entries: [Key: Entry] = [:]
    private var refusals: [Key: (refusal: PathValidationError, period: ClosedRange<Timestamp>)] = [:]
    private var uses: UInt64 = 0

    /// How often a path was found here.
    public private(set) var hits = 0
    /// How often none was.
    public private(set) var misses = 0

    /// How many paths are kept.
    public var count: Int { self.entries.count }

    /// An empty cache.
    public init() {}

    /// The path that was validated for a key, while it holds.
    public mutating func path(for key: Key, at time: Timestamp) -> ValidatedPath? {
        guard var entry = self.entries[key], entry.period.contains(time) else {
            self.misses += 1
            return nil
        }
        self.hits += 1
        self.uses += 1
        entry.use = self.uses
        self.entries[key] = entry
        return entry.path
    }

    /// The refusal that took over half of a limit less than a minute ago, if there was one.
    public func refusal(for key: Key, at time: Timestamp) -> PathValidationError? {
        guard let kept = self.refusals[key], kept.period.contains(time) else { return nil }
        return kept.refusal
    }

    /// Keeps a path that was just validated; the one that was not used for the longest time goes when there are too
    /// many. Of refusals the costly ones are kept; the oldest goes.
    public mutating func keep(_ outcome: PathOutcome, for key: Key, at time: Timestamp) {
        if case .failure(let refusal) = outcome.result, outcome.isCostly, refusal.isRepeatable {
            self.keep(refusal, for: key, at: time)
        }
        guard case .success(let path) = outcome.result, let validity = outcome.validity else { return }
        let start = max(validity.lowerBound, time)
        let end = min(validity.upperBound, Timestamp(secondsSince1970: time.secondsSince1970 + Self.lifetime))
        guard start <= end else { return }
        self.uses += 1
        self.entries[key] = Entry(path: path, period: start...end, use: self.uses)
        if self.entries.count > Self.capacity, let oldest = self.entries.min(by: { $0.value.use < $1.value.use }) {
            self.entries[oldest.key] = nil
        }
    }

    private mutating func keep(_ refusal: PathValidationError, for key: Key, at time: Timestamp) {
        let end = Timestamp(secondsSince1970: time.secondsSince1970 + Self.refusalLifetime)
        self.refusals[key] = (refusal, time...end)
        guard self.refusals.count > Self.refusalCapacity,
            let oldest = self.refusals.min(by: { $0.value.period.lowerBound < $1.value.period.lowerBound })
        else { return }
        self.refusals[oldest.key] = nil
    }

    /// Forgets everything: the roots changed.
    public mutating func removeAll() {
        self.entries = [:]
        self.refusals = [:]
    }
}

extension PathLimits: CustomStringConvertible {
    /// The limits in one line.
    public var description: String {
        "\(self.presentedCertificates) \(self.pathLength) \(self.signatureChecks) \(self.candidateSteps) "
            + "\(self.nameComparisons) \(self.policySteps) \(self.nanoseconds)"
    }
}
#endif
