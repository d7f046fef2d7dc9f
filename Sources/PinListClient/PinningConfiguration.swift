// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import Logging
public import PinFailureReports
public import PinListMetadata

/// What an app may choose. The defaults are the safe ones.
public struct PinningConfiguration: Sendable {
    /// When the app was built: no clock is believed that is earlier.
    public var buildDate: Timestamp?
    /// What the entries of an expired list do. With `report`, whoever blocks
    /// updates for long enough switches pinning off.
    public var whenStale: PinList.WhenStale
    /// Whether everything only reports, whatever the list says: for a first deployment. Nothing is refused, and what
    /// the pins would have said is counted and reported.
    public var isObserving: Bool
    /// Whether a response of a pinned host that came over a connection without a decision ends the process, in place of
    /// an error: for tests and staging, where what must not happen should be seen.
    public var stopsWithoutDecision = false
    /// What the system is asked of revocation, on Apple's platforms alone. Everywhere the signed list has its own answer.
    public var revocation = SystemRevocation.system
    /// The most bytes of roots and lists.
    public var limits: MetadataLimits
    /// How roots and lists are fetched.
    public var fetcher: any ListFetcher
    /// How reports are sent. Where to stands in the signed list alone; a list that names no address gets none.
    public var reportSender: any ReportSender
    /// Signs reports to one service with App Attest; `nil` for reports that nothing identifies. **Off by default**: the id
    /// of the key is a stable identifier of the installation, which nothing else that is sent is.
    public var attestation: (any ReportAttestor)?
    /// What reports say of the app.
    public var app: ReportedApp
    /// Where the highest version is kept beside the state folder; `nil` for nowhere.
    public var versionMark: (any VersionMarkStore)?
    /// Where events are logged beside ``Pinning/events()``; `nil` for nowhere.
    public var logger: Logger?
    /// What is noticed of the process, asked before each verdict on a new connection and for each report: so it must not
    /// take long, and may be called from any thread. `nil` for nobody who looks.
    public var runtimeEnvironment: (@Sendable () -> RuntimeEnvironment)?
    /// The clock.
    public var clock: any PinningClock
    /// Where random numbers come from.
    public var randomness: any PinningRandomness

    #if DEBUG
    /// Pins of anchors under which nothing is pinned: the root of a developer's own proxy. In debug builds alone; a
    /// release build that names it does not compile. Each connection that it lets through is shouted about in the log.
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

/// What the system is asked of revocation, beside what it asks by itself (`SecPolicyCreateRevocation`). On Linux it means
/// nothing: there `PathValidation` takes revocation lists. Never tried on a device.
public enum SystemRevocation: Hashable, Sendable {
    /// What the system does by itself: by Apple's documentation it is usually not necessary to ask for more. The default.
    case system
    /// Asks by any method that the system has. What cannot be answered passes: whoever cuts off the responder is let in.
    case checked
    /// Asks for a positive answer, and refuses without one. **It locks out servers of CAs without OCSP** (Let's Encrypt has
    /// had none since August 2025), and everybody where the responder is not reached. A staple that came with the handshake
    /// does not count: the evaluation under this policy has the certificates alone.
    case required
}
