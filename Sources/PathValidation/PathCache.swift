// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import CertificatePinning
import Crypto

/// A cache of validated paths: for a known chain, host and root store the signatures of the certificates are not
/// checked again.
///
/// A value, and only the path is kept: pins, the deny set and the handshake's own signature are evaluated at every
/// connection. An entry is used while all certificates of its path are valid, for a day at most.
///
/// Refusals that took over half of a limit are kept for a minute, in a cache of their own, so that a peer which repeats
/// the same costly chain is refused at no cost. A refusal that the time, the host's name or the deadline decided is not
/// kept: it may differ the next time.
public struct PathCache: Sendable {
    /// The key of a cached path: a hash over all that the search depends on, but the time.
    public struct Key: Hashable, Sendable {
        private let digest: [UInt8]

        /// The key of a presented chain.
        ///
        /// - Parameters:
        ///   - presented: Certificates in DER, the leaf first, as they are given to the validator.
        ///   - identity: The server whose certificate the leaf must be.
        ///   - roots: The digest of the root store.
        ///   - limits: The validator's limits.
        ///   - revocation: The digest of its revocation lists and the demand on them; `nil` for none.
        public init(
            presented: [[UInt8]], identity: ServerIdentity, roots: [UInt8], limits: PathLimits,
            revocation: (digest: [UInt8], demand: RevocationCheck.Demand)? = nil
        ) {
            // Which kind of identity comes first, as a number: "any-server" could be a host's name, too.
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

    /// The maximum number of paths: the recent servers of an app or a service.
    public static let capacity = 1_024
    /// The maximum age of a path, in seconds: a day (formats.md, section 4.1).
    public static let lifetime: Int64 = 86_400
    /// The maximum number of refusals: peers choose how many there are.
    public static let refusalCapacity = 256
    /// The maximum age of a refusal, in seconds: a minute (formats.md, section 4.1).
    public static let refusalLifetime: Int64 = 60

    private var entries: [Key: Entry] = [:]
    private var refusals: [Key: (refusal: PathValidationError, period: ClosedRange<Timestamp>)] = [:]
    private var uses: UInt64 = 0

    /// The number of cache hits.
    public private(set) var hits = 0
    /// The number of cache misses.
    public private(set) var misses = 0

    /// The number of cached paths.
    public var count: Int { self.entries.count }

    /// An empty cache.
    public init() {}

    /// The path that was validated for a key, while it is valid.
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

    /// Stores a path that was just validated; beyond the maximum the least recently used one is removed. Of refusals
    /// only the costly ones are stored; the oldest is removed.
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

    /// Removes all entries, because the roots changed.
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
