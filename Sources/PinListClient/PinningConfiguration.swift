// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import Logging
public import PinFailureReports
public import PinListMetadata

/// The settings of an app. The defaults are the safe ones; ``buildDate`` has none, so set it.
public struct PinningConfiguration: Sendable {
    /// The time when the app was built; an earlier clock is not believed.
    public var buildDate: Timestamp?
    /// The effect of the entries of an expired list. With `report`, an attacker who blocks
    /// updates for long enough switches pinning off.
    public var whenStale: PinList.WhenStale
    /// Whether all entries only report, also those with mode `enforce`: for a first deployment. Pins refuse nothing;
    /// mismatches are counted and reported. A chain that does not validate is refused as ever.
    public var isObserving: Bool
    /// Whether a response of a pinned host that came over a connection without a decision ends the process, in place of
    /// an error: for tests and staging, where such a response must be noticed.
    public var stopsWithoutDecision = false
    /// The demand on the system to check revocation, on Apple's platforms alone. Everywhere the signed list has its own
    /// answer.
    public var revocation = SystemRevocation.system
    /// The maximum number of bytes of roots and lists.
    public var limits: MetadataLimits
    /// The transport for roots and lists.
    public var fetcher: any ListFetcher
    /// The transport for reports. The signed list names the addresses, or the rules that the app makes in code; without one no report
    /// is sent.
    public var reportSender: any ReportSender
    /// Signs reports to one service with App Attest; `nil` for anonymous reports. **Off by default**: the id of the key
    /// is the only stable identifier of the installation that is sent.
    public var attestation: (any ReportAttestor)?
    /// The members of reports about the app.
    public var app: ReportedApp
    /// The store of the version mark, outside the state folder; `nil` for none.
    public var versionMark: (any VersionMarkStore)?
    /// The logger of events, beside ``Pinning/events()``; `nil` for none.
    public var logger: Logger?
    /// The checks of the process, called before each verdict on a new connection and for each report: they must be
    /// fast, and may be called from any thread. `nil` for no checks.
    public var runtimeEnvironment: (@Sendable () -> RuntimeEnvironment)?
    /// The clock.
    public var clock: any PinningClock
    /// The source of random numbers.
    public var randomness: any PinningRandomness

    #if DEBUG
    /// Pins of anchors under which nothing is pinned: the root of a developer's own proxy. In debug builds alone; a
    /// release build that names it does not compile. Each connection that it lets through is logged as critical.
    public var developerAnchors: Set<Pin> = []
    #endif

    /// Creates a configuration.
    public init(
        fetcher: any ListFetcher, reportSender: any ReportSender, buildDate: Timestamp? = nil,
        whenStale: PinList.WhenStale = .enforce, isObserving: Bool = false, limits: MetadataLimits = MetadataLimits(),
        app: ReportedApp = .thisProcess, versionMark: (any VersionMarkStore)? = nil, logger: Logger? = nil,
        clock: any PinningClock = SystemClock(), randomness: any PinningRandomness = SystemRandomness()
    ) {
        self.buildDate = buildDate
        self.whenStale = whenStale
        self.isObserving = isObserving
        self.limits = limits
        self.fetcher = fetcher
        self.reportSender = reportSender
        self.app = app
        self.versionMark = versionMark
        self.logger = logger
        self.clock = clock
        self.randomness = randomness
    }
}

/// A demand on the system to check revocation, beside what it checks by itself (`SecPolicyCreateRevocation`). On Linux
/// it means nothing: there `PathValidation` takes revocation lists. Never tried on a device.
public enum SystemRevocation: Hashable, Sendable {
    /// The system's own checks: by Apple's documentation it is usually not necessary to ask for more. The default.
    case system
    /// Asks by any method that the system has. What cannot be answered passes: an attacker who cuts off the responder is let in.
    case checked
    /// Asks for a positive answer, and refuses without one. **It locks out servers of CAs without OCSP** (Let's Encrypt has
    /// had none since August 2025), and all users where the responder is not reached. A staple that came with the handshake
    /// does not count: the evaluation under this policy has the certificates alone.
    case required
}
