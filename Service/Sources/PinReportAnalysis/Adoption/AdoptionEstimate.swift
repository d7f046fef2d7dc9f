// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import Foundation

/// The spread of a list, estimated from what clients say that they hold (formats.md, section 7).
///
/// The requests are not authenticated: it is an estimate, and never the only gate for removing a key. One installation
/// asks about once in each window, the list's `refreshAfter`, and names what it held before the answer.
package struct AdoptionEstimate: Hashable, Sendable {
    /// A digest that clients named and that was never published here.
    package struct Unverified: Hashable, Sendable {
        /// The digest, or `other` for those that were not told apart.
        package let digest: String
        /// The number of requests that named it in the window.
        package let count: Int64
        /// The hour in which it was named last.
        package let lastSeen: Timestamp
    }

    /// Whether there is something to go by.
    package enum State: Hashable, Sendable {
        /// Estimated from this many requests.
        case measured(base: Int64)
        /// Not: why, in a sentence.
        case notMeasured(why: String)
    }

    /// The minimum number of requests of a window that say something: of fewer, one request is over a tenth.
    package static let minimumBase: Int64 = 10
    /// The maximum share of requests through caches that still lets the others stand for all: what the others say is
    /// then wrong by no more than that.
    static let maximumEdgeShare = 0.1
    /// The maximum share of requests whose sources could not be told apart that still lets the others stand for all
    /// (formats.md, section 7).
    static let maximumCrowdedShare = 0.1
    /// The number of sources that asked as often as counts, in an hour, below which these are few, and must not be most
    /// of what counts.
    static let fewSources: Int64 = 10
    /// The factor between the missing shares of two windows from which on the later one counts as without progress.
    static let stalledFactor = 0.98
    /// The number of windows that the newest version has to be out for a forecast: one point says nothing of a curve.
    static let forecastWindows: Int64 = 2
    /// The share that counts as all installations.
    package static let shareOfAll = 0.99

    /// Whether there is something to go by.
    package let state: State
    /// The window, in seconds.
    package let window: Int64
    /// The share of active installations that hold a version or a newer one, by version; empty when not measured.
    package let shares: [Int64: Double]
    /// The digests that were named and never published.
    package let unverified: [Unverified]
    /// The time at which 99 % will hold the newest version, if it goes on like this; `nil` when that is not in sight,
    /// or was reached.
    package let everybodyAt: Timestamp?
    /// Whether too few windows are measured for a forecast: the newest version is out for less than two, or the one
    /// before was not measured.
    package let isYoung: Bool
    /// Whether the newest version no longer spreads, and not all installations have it.
    package let isStalled: Bool

    /// The share that holds the newest version.
    package func share(of version: Int64) -> Double? {
        // A version between two that were published counts as held by the holders of the next one.
        if let share = self.shares[version] { return share }
        guard case .measured = self.state else { return nil }
        return self.shares.filter { $0.key > version }.min { $0.key < $1.key }?.value ?? 0
    }

    /// Estimates.
    ///
    /// - Parameters:
    ///   - listRequests: The counts, two windows and an hour back at least.
    ///   - versions: The versions of all lists that were published, by digest.
    ///   - newest: The version that is served, and when it was published.
    ///   - window: `refreshAfter`, in seconds.
    ///   - now: The time.
    package static func make(
        _ listRequests: [ListRequestKey: Int64], versions: [String: Int64], newest: (version: Int64, at: Timestamp)?,
        window: Int64, at now: Timestamp
    ) -> AdoptionEstimate {
        let hours = max(1, (window + 3_599) / 3_600)
        let current = WindowCount(listRequests, hours: (now.hour - hours + 1)...now.hour, versions)
        let unverified = current.unverified.map { digest, named in
            Unverified(
                digest: digest, count: named.count, lastSeen: Timestamp(secondsSince1970: named.hour * 3_600))
        }
        .sorted { ($1.count, $0.digest) < ($0.count, $1.digest) }
        func notMeasured(_ why: String) -> AdoptionEstimate {
            AdoptionEstimate(
                state: .notMeasured(why: why), window: window, shares: [:], unverified: unverified, everybodyAt: nil,
                isYoung: false, isStalled: false)
        }
        guard let newest else { return notMeasured("no list is published") }
        if let why = current.whyNotMeasured { return notMeasured(why) }
        let published = Set(versions.values).union([newest.version])
        let before = WindowCount(listRequests, hours: (now.hour - 2 * hours + 1)...(now.hour - hours), versions)
        let missing = 1 - current.share(of: newest.version)
        let forecast = Self.forecast(
            missing: missing,
            before: before.base >= Self.minimumBase ? 1 - before.share(of: newest.version) : 1,
            publishedAt: newest.at.secondsSince1970, window: window, now: now.secondsSince1970)
        let isReached = missing <= 1 - Self.shareOfAll
        let isYoung =
            !isReached
            && (before.whyNotMeasured != nil
                || now.secondsSince1970 - newest.at.secondsSince1970 < Self.forecastWindows * window)
        return AdoptionEstimate(
            state: .measured(base: current.base), window: window,
            shares: Dictionary(uniqueKeysWithValues: published.map { ($0, current.share(of: $0)) }),
            unverified: unverified, everybodyAt: isYoung ? nil : forecast.at.map { Timestamp(secondsSince1970: $0) },
            isYoung: isYoung,
            isStalled: forecast.isStalled)
    }

    /// The time at which 99 % will hold the newest version: what is missing shrinks by the same factor in each window.
    ///
    /// - Parameters:
    ///   - missing: The share that does not hold it in this window.
    ///   - before: The share that did not in the window before.
    private static func forecast(
        missing: Double, before: Double, publishedAt: Int64, window: Int64, now: Int64
    ) -> (at: Int64?, isStalled: Bool) {
        guard missing > 1 - Self.shareOfAll else { return (nil, false) }
        // After one window every installation has asked, after two every one has named the answer.
        let earliest = publishedAt + 2 * window
        let factor = missing / max(before, 0.000_1)
        guard factor < Self.stalledFactor else {
            let isStalled = now > earliest + window
            return (isStalled ? nil : max(earliest, now + window), isStalled)
        }
        // A hundred years are the end of every forecast.
        let windows = min(log((1 - Self.shareOfAll) / missing) / log(factor), 3.2e9 / Double(max(window, 1)))
        guard let wait = Int64(exactly: (windows * Double(window)).rounded(.down)) else { return (nil, false) }
        return (max(earliest, now + wait), false)
    }
}
