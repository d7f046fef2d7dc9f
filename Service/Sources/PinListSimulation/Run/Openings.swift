// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The openings of one installation, one after the other.
struct Openings {
    private let model: OpeningModel
    /// The end of what is simulated, in seconds; `next` gives it where there is no other opening before it.
    private let horizon: Int64

    private var random = ClientRandomness(seed: 0, client: 0, .openings)
    /// The mean time between two openings, in seconds.
    private var meanGap = 0.0
    /// The rest of a recorded installation's openings.
    private var recorded = 0..<0
    /// The next day on which an opening may be.
    private var day: Int64 = 0

    init(_ model: OpeningModel, horizon: Int64) {
        self.model = model
        self.horizon = horizon
    }

    /// Begins with another installation.
    ///
    /// - Parameter traits: The random source of the installation's rate.
    mutating func begin(seed: UInt64, client: Int, _ traits: inout ClientRandomness) {
        self.random = ClientRandomness(seed: seed, client: client, .openings)
        switch self.model {
        case .gammaPoisson(let shape, let scale):
            let rate = traits.gamma(shape: shape) / Double(scale.seconds)
            // A rate of nothing: never.
            self.meanGap = rate > 0 ? 1 / rate : .infinity
        case .daily: self.day = -1
        case .trace(let trace): self.recorded = trace.range(of: client)
        }
    }

    /// The first opening at a moment or later; the horizon where there is none before it.
    mutating func next(from moment: Int64) -> Int64 {
        switch self.model {
        case .gammaPoisson:
            // Without memory: it does not matter since when one waits.
            let gap = (self.random.exponential() * self.meanGap).rounded(.down)
            guard gap < Double(self.horizon), let seconds = Int64(exactly: gap) else { return self.horizon }
            return min(moment + seconds, self.horizon)
        case .daily(let share):
            while true {
                let days = self.horizon / 86_400
                self.day += 1 + self.random.failures(share: share, maximum: days)
                guard self.day < days else {
                    self.day = days
                    return self.horizon
                }
                let second = (self.random.fraction() * 86_400).rounded(.down)
                let opening = self.day * 86_400 + (Int64(exactly: second) ?? 0)
                if opening >= moment { return opening }
            }
        case .trace(let trace):
            while let index = self.recorded.first {
                self.recorded = index + 1..<self.recorded.upperBound
                let opening = trace.moments[index]
                if opening >= moment { return min(opening, self.horizon) }
            }
            return self.horizon
        }
    }
}
