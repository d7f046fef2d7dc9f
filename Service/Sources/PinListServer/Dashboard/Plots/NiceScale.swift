// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// An axis from zero to a round number, with a handful of round ticks.
struct NiceScale: Hashable, Sendable {
    /// The end of the axis: a multiple of ``step`` that no value exceeds.
    let top: Double
    /// The distance between two ticks: 1, 2, 2.5 or 5 times a power of ten.
    let step: Double
    /// The ticks from zero to ``top``.
    let ticks: [Double]

    /// The range of what can be drawn; what is outside is drawn at its end.
    private static let drawable = 1e-9...1e300

    /// An axis for values up to `maximum`.
    ///
    /// - Parameters:
    ///   - maximum: The highest value; one that is not a finite, positive number gives an axis to one.
    ///   - about: The maximum number of ticks above zero.
    ///   - wholeNumbers: Whether fractions make no sense: counts.
    init(maximum: Double, about: Int = 4, wholeNumbers: Bool = true) {
        let isDrawable = maximum.isFinite && maximum > 0
        let maximum = isDrawable ? min(max(maximum, Self.drawable.lowerBound), Self.drawable.upperBound) : 1
        let rough = maximum / Double(min(max(1, about), 10))
        var power = 1.0
        while power * 10 <= rough { power *= 10 }
        while power > rough { power /= 10 }
        let steps = [1, 2, 2.5, 5, 10].map { $0 * power }.filter { step in
            step >= rough && (!wholeNumbers || step >= 1 && step == step.rounded())
        }
        let step = steps.first ?? (wholeNumbers ? max(1, 10 * power) : 10 * power)
        // A rounding error must not make another tick.
        let count = max(1, (maximum / step - 1e-9).rounded(.up))
        self.step = step
        self.top = step * count
        self.ticks = stride(from: 0, through: count, by: 1).map { $0 * step }
    }
}
