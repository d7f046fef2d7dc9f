// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinListRepository
import PinRotation

/// The forecast of when the gate of a rotation opens, and its basis.
struct RotationForecast {
    /// The time; `nil` when it cannot be said.
    let opening: Timestamp?

    /// The basis of the forecast, in words.
    let basis: String

    /// The curve that it is known from; `nil` where time alone says it.
    let curve: AdoptionForecast?

    /// Foretells.
    ///
    /// - Parameters:
    ///   - beginning: The time at which the new pin goes out, or went out.
    ///   - refusing: The share of the requests that name a list without it, or an older one than the newest, and for
    ///     how many seconds the newer one was out; `nil` where that is not measured.
    ///   - limit: The share that may refuse.
    ///   - source: The source.
    ///   - time: Now.
    init(
        from beginning: Timestamp, refusing: (share: Double, after: Int64)?, limit: RefusingLimit,
        _ source: ListSource, at time: Timestamp
    ) {
        let share = limit.percent / 100
        // The count looks back over so long.
        let window = GateRefusing.hours(of: source.refreshAfter) * 3_600
        if let refusing,
            let curve = AdoptionForecast(
                shape: source.opened?.shape ?? AdoptionForecast.standardShape, requestsNaming: refusing.share,
                after: refusing.after)
        {
            self.curve = curve
            self.opening = curve.secondsUntilRequests(fallTo: share).map { beginning.adding($0).adding(window) }
            self.basis =
                "measured adoption: \(Share.percent(refusing.share)) of the requests lag behind after "
                + SourceDuration.rough(refusing.after)
            return
        }
        let byTime = beginning.adding(source.propagation)
        guard let curve = source.opened else {
            self.curve = nil
            self.opening = byTime
            self.basis = "propagation: \(SourceDuration.text(source.propagation)), as nothing is measured"
            return
        }
        self.curve = curve
        self.opening = curve.secondsUntilRequests(fallTo: share).map {
            max(beginning.adding($0).adding(window), byTime)
        }
        self.basis = "opened: in tumbler.yaml"
    }

    /// Measured adoption before anything was announced: how the newest list spread.
    ///
    /// - Returns: The share of the requests that name an older list, and since when the newest is out.
    static func spread(of lists: GateLists?, at time: Timestamp) -> (share: Double, after: Int64)? {
        guard let count = lists?.holders.count, let newest = lists?.newest.max(by: { $0.version < $1.version }),
            count.requests >= GateRefusing.minimumRequests
        else { return nil }
        let holding = count.lists.filter { $0.list.version >= newest.version }.reduce(0.0) { $0 + Double($1.requests) }
        let after = time.secondsSince1970 - newest.issuedAt.secondsSince1970
        guard after > 0, holding < Double(count.requests) else { return nil }
        return (1 - holding / Double(count.requests), after)
    }
}
