// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The forecast of how fast installations come to a new list, in closed form: the openings of each are a Poisson
/// process, whose rate a day is drawn from a Gamma distribution with this shape and the mean shape / scale.
public struct AdoptionForecast: Hashable, Sendable {
    /// The shape of the distribution, above zero.
    public let shape: Double

    /// The scale, in seconds, above zero.
    public let scale: Double

    /// The shape where nothing else is known: that of an app that people open every fourth day on average.
    public static let standardShape = 0.65

    /// The installations of an app that is opened every fourth day on average, where nothing else is known.
    public static let usual = AdoptionForecast(uncheckedShape: Self.standardShape, scale: 2.6 * 86_400)

    private init(uncheckedShape shape: Double, scale: Double) {
        self.shape = shape
        self.scale = scale
    }

    /// A forecast.
    ///
    /// - Returns: `nil` for a shape or a scale that is not finite, not above zero, or over a million times a day.
    public init?(shape: Double, scale: Double) {
        guard shape.isFinite, scale.isFinite, (0.001...1_000).contains(shape), (1...1e12).contains(scale) else {
            return nil
        }
        self.init(uncheckedShape: shape, scale: scale)
    }

    /// The forecast in which a share of the requests still names what was replaced some time ago.
    ///
    /// - Parameters:
    ///   - share: The share of the requests, between 0 and 1.
    ///   - seconds: The time since it was replaced, in seconds.
    /// - Returns: `nil` where none comes of that: a share of 0 or 1, or no time.
    public init?(shape: Double = Self.standardShape, requestsNaming share: Double, after seconds: Int64) {
        guard share > 0, share < 1, seconds > 0 else { return nil }
        self.init(shape: shape, scale: Double(seconds) / (pow(share, -1 / (shape + 1)) - 1))
    }

    /// The share of the installations that were not opened within a time: (scale / (scale + t))^shape.
    public func notReached(after seconds: Int64) -> Double {
        pow(self.scale / (self.scale + Double(max(seconds, 0))), self.shape)
    }

    /// The share of the requests that come from installations which were not opened since, which is what the gate
    /// counts: who opens an app often asks often, so the exponent is one more.
    public func requestsNotReached(after seconds: Int64) -> Double {
        pow(self.scale / (self.scale + Double(max(seconds, 0))), self.shape + 1)
    }

    /// The time until no more than a share of the requests come from installations that were not opened since, in
    /// seconds; `nil` where that is over a hundred years.
    public func secondsUntilRequests(fallTo share: Double) -> Int64? {
        guard share < 1 else { return 0 }
        guard share > 0 else { return nil }
        let seconds = (self.scale * (pow(share, -1 / (self.shape + 1)) - 1)).rounded(.up)
        guard seconds.isFinite, seconds <= 3_155_760_000 else { return nil }
        return Int64(exactly: seconds)
    }

    /// The time until a share of the installations was opened, in seconds; `nil` where that is over a hundred years.
    public func secondsUntil(reaching share: Double) -> Int64? {
        guard share > 0 else { return 0 }
        guard share < 1 else { return nil }
        let seconds = (self.scale * (pow(1 - share, -1 / self.shape) - 1)).rounded(.up)
        guard seconds.isFinite, seconds <= 3_155_760_000 else { return nil }
        return Int64(exactly: seconds)
    }
}
