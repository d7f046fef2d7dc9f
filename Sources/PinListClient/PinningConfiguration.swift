// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata

/// What an app may choose. The defaults are the safe ones.
public struct PinningConfiguration: Sendable {
    /// When the app was built: no clock is believed that is earlier.
    public var buildDate: Timestamp?
    /// What the entries of an expired list do. With ``PinListMetadata/PinList/WhenStale/report``, whoever blocks
    /// updates for long enough switches pinning off.
    public var whenStale: PinList.WhenStale
    /// The most bytes of roots and lists.
    public var limits: MetadataLimits
    /// How roots and lists are fetched.
    public var fetcher: any ListFetcher
    /// The clock.
    public var clock: any PinningClock
    /// Where random numbers come from.
    public var randomness: any PinningRandomness

    /// Creates a configuration.
    public init(
        buildDate: Timestamp? = nil, whenStale: PinList.WhenStale = .enforce, limits: MetadataLimits = MetadataLimits(),
        fetcher: any ListFetcher = URLSessionFetcher(), clock: any PinningClock = SystemClock(),
        randomness: any PinningRandomness = SystemRandomness()
    ) {
        self.buildDate = buildDate
        self.whenStale = whenStale
        self.limits = limits
        self.fetcher = fetcher
        self.clock = clock
        self.randomness = randomness
    }
}
