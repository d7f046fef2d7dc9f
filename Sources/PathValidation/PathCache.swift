// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import CertificatePinning
import Crypto

/// Paths that were validated lately: for a chain that was validated before, the same host and the same roots, the
/// certificates' signatures are not checked again.
///
/// A value, and only the path is kept: pins, the deny set and the handshake's own signature are judged at every
/// connection. An entry is used while all certificates of its path are valid, for a day at most.
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
        public init(presented: [[UInt8]], identity: ServerIdentity, roots: [UInt8], limits: PathLimits) {
            var hash = SHA256()
            for part in [Array("\(identity)".utf8), roots, Array(limits.description.utf8)] {
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

    private var entries: [Key: Entry] = [:]
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

    /// Keeps a path that was just validated; the one that was not used for the longest time goes when there are too
    /// many. A refusal is not kept.
    public mutating func keep(_ outcome: PathOutcome, for key: Key, at time: Timestamp) {
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

    /// Forgets all paths: the roots changed.
    public mutating func removeAll() { self.entries = [:] }
}

extension PathLimits: CustomStringConvertible {
    /// The limits in one line.
    public var description: String {
        "\(self.presentedCertificates) \(self.pathLength) \(self.signatureChecks) \(self.candidateSteps) "
            + "\(self.nameComparisons) \(self.nanoseconds)"
    }
}
#endif
