// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The counts of some hours, by version.
package struct WindowCount {
    /// Requests of installations, those that named something.
    package private(set) var base: Int64 = 0
    /// Requests through caches.
    package private(set) var edge: Int64 = 0
    /// Requests in the logs of caches.
    private(set) var logged: Int64 = 0
    /// Requests of sources that had asked as often as counts.
    package private(set) var surplus: Int64 = 0
    /// The number of sources that had, each counted once in each hour in which it had.
    package private(set) var exhausted: Int64 = 0
    /// Requests of sources that could not be told apart.
    package private(set) var crowded: Int64 = 0
    /// The number of hours that are counted.
    private let hours: Int64
    /// By version.
    package private(set) var versions: [Int64: Int64] = [:]
    /// The digests that were named and never published: how often, and in which hour last.
    package private(set) var unverified: [String: (count: Int64, hour: Int64)] = [:]

    package init(_ listRequests: [ListRequestKey: Int64], hours: ClosedRange<Int64>, _ published: [String: Int64]) {
        self.hours = hours.upperBound - hours.lowerBound + 1
        for (key, count) in listRequests where hours.contains(key.hour) {
            switch key.source {
            case .edge: self.edge += count
            case .exhausted:
                self.exhausted += count
                self.surplus += count
            case .surplus: self.surplus += count
            case .crowded: self.crowded += count
            case .log: self.logged += count
            case .installation: break
            }
            guard key.source == .installation || key.source == .log else { continue }
            // A request that names no list is not from a client of ours: those name the list that they were shipped
            // with.
            guard key.digest != ListRequestKey.nothing else { continue }
            // A digest that was never published counts as holding none: invented digests delay a rotation, and never
            // hurry one.
            self.base += count
            if let version = published[key.digest] {
                self.versions[version, default: 0] += count
            } else {
                let known = self.unverified[key.digest] ?? (0, key.hour)
                self.unverified[key.digest] = (known.count + count, max(known.hour, key.hour))
            }
        }
    }

    /// The share that holds a version or a newer one.
    package func share(of version: Int64) -> Double {
        guard self.base > 0 else { return 0 }
        let held = self.versions.reduce(Int64(0)) { $1.key >= version ? $0 + $1.value : $0 }
        return Double(held) / Double(self.base)
    }

    /// Whether a few sources that asked as often as counts decide the share. Behind a proxy that is not trusted the
    /// first requests of an hour stand for all, and one client can see to it that they are its own. Large mobile
    /// networks have many addresses.
    private var isOfFewSources: Bool {
        self.exhausted < AdoptionEstimate.fewSources * self.hours
            && 2 * self.exhausted * Int64(ListRequestQuota.maximumRequests) > self.base
    }

    /// The reason for which nothing can be said; `nil` when it can.
    package var whyNotMeasured: String? {
        if self.logged == 0, Double(self.edge) > AdoptionEstimate.maximumEdgeShare * Double(self.edge + self.base) {
            return "\(self.edge) of \(self.edge + self.base) requests came through a cache; "
                + "feed its log in with tumbler adoption import"
        }
        if Double(self.crowded) > AdoptionEstimate.maximumCrowdedShare * Double(self.crowded + self.base) {
            return "\(self.crowded) of \(self.crowded + self.base) requests came from more sources than can be "
                + "distinguished"
        }
        if self.isOfFewSources {
            return "over half of the \(self.base) requests that count came from few sources, each of which asked over "
                + "\(ListRequestQuota.maximumRequests) times in an hour; a proxy that is not in trustedProxies is one source"
        }
        guard self.base >= AdoptionEstimate.minimumBase else {
            return "\(self.base) requests in the last window are too few"
        }
        return nil
    }
}
