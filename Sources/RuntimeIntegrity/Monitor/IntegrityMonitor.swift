// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Looks at this process at start, before connections, and at random times.
///
///     let monitor = IntegrityMonitor(.standard(), on: LinuxMachine(), policy: .refusing)
///     Task { await monitor.run() }
///     let decision = monitor.check()          // before a connection
///     for await signal in monitor.changes() { … }
///
/// It gives signals, not proof: an attacker who controls the process can control this module, too.
public actor IntegrityMonitor {
    private let machine: any ObservedMachine
    private let detectors: [any TamperDetector]
    private let quickDetectors: [any TamperDetector]
    private let policy: TamperPolicy
    private let response: TamperResponse
    private let canary: Canary?
    private let schedule: IntegritySchedule
    private let clock: any IntegrityClock
    private let ledger = SightingLedger()
    private var randomness: any RandomNumberGenerator & Sendable

    /// Creates a monitor. It looks at nothing before ``run()`` or ``check()``.
    ///
    /// - Parameters:
    ///   - detectors: The detectors.
    ///   - machine: The machine that they look at.
    ///   - policy: The consequences of signals.
    ///   - response: The app's functions for wiping and ending, where the policy demands it.
    ///   - canary: The canary, tried with each complete look.
    ///   - schedule: The schedule of complete looks.
    ///   - clock: The clock for times of sightings and for waiting.
    ///   - randomness: The source of random waits and of the order of trials.
    public init(
        _ detectors: DetectorSet, on machine: any ObservedMachine, policy: TamperPolicy = TamperPolicy(),
        response: TamperResponse = TamperResponse(), canary: Canary? = nil,
        schedule: IntegritySchedule = .standard, clock: any IntegrityClock = SystemIntegrityClock(),
        randomness: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.machine = machine
        self.detectors = detectors.detectors
        self.quickDetectors = detectors.detectors.filter { $0.cost == .connection }
        self.policy = policy
        self.response = response
        self.canary = canary
        self.schedule = schedule
        self.clock = clock
        self.randomness = randomness
    }

    /// Runs the fast detectors, before a connection.
    ///
    /// It does not wait, and may be called from any thread.
    ///
    /// - Returns: The conclusion from all signals so far.
    @discardableResult
    public nonisolated func check() -> TamperDecision {
        let now = self.clock.nanoseconds
        for detector in self.quickDetectors { self.ledger.keep(detector.look(at: self.machine), at: now) }
        return self.respond()
    }

    /// Runs all detectors, and tries the canary.
    ///
    /// It does not call ``check()``: an attacker who hooks one of the two has not silenced the other.
    @discardableResult
    public func look() async -> TamperDecision {
        for detector in self.detectors.shuffled(using: &self.randomness) {
            self.ledger.keep(detector.look(at: self.machine), at: self.clock.nanoseconds)
        }
        if let canary = self.canary {
            // The actor may be entered while the canary waits: it gets a generator of its own.
            var randomness = SeededOrder(state: self.randomness.next())
            self.ledger.keep(DetectorAnswer(await canary.sing(&randomness)), at: self.clock.nanoseconds)
        }
        return self.respond()
    }

    /// Runs all detectors now, and again at random times, until its task is cancelled.
    public func run() async {
        await self.look()
        while !Task.isCancelled {
            let wait = self.schedule.next(&self.randomness)
            do { try await self.clock.sleep(nanoseconds: wait) } catch { return }
            await self.look()
        }
    }

    /// The sightings so far, in the order of their first times. A sighting stays.
    public nonisolated var sightings: [TamperSighting] { self.ledger.sightings }

    /// The blind spots so far.
    public nonisolated var blindSpots: [BlindSpot] { self.ledger.blindSpots }

    /// The conclusion from all signals so far, without a new look.
    public nonisolated var decision: TamperDecision {
        self.policy.decision(for: self.ledger.sightings.map(\.signal))
    }

    /// A stream of the signals so far, and of each new one or one with a higher confidence. A slow observer loses the
    /// oldest.
    public nonisolated func changes() -> AsyncStream<TamperSignal> { self.ledger.changes() }

    @inline(__always)
    private nonisolated func respond() -> TamperDecision {
        let decision = self.policy.decision(for: self.ledger.sightings.map(\.signal))
        guard decision.wipes || decision.ends else { return decision }
        let due = self.ledger.takeDue(decision)
        if due.wipes { self.response.wipe() }
        if due.ends { self.response.end() }
        return decision
    }
}

/// A monotonic clock, and sleeping. A protocol, so that a test can control both.
public protocol IntegrityClock: Sendable {
    /// The nanoseconds since some moment.
    var nanoseconds: UInt64 { get }

    /// Waits.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func sleep(nanoseconds: UInt64) async throws
}

/// The clock of the device.
public struct SystemIntegrityClock: IntegrityClock {
    /// Creates the clock.
    public init() {}

    /// The nanoseconds since the system's start.
    public var nanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(max(0, time.tv_sec)) &* 1_000_000_000 &+ UInt64(max(0, time.tv_nsec))
    }

    /// Waits with `Task.sleep`.
    public func sleep(nanoseconds: UInt64) async throws { try await Task.sleep(nanoseconds: nanoseconds) }
}

/// The wait of the monitor between two complete looks.
///
/// It is random, because an attacker who knows the time of the next look can be gone by then.
public struct IntegritySchedule: Hashable, Sendable {
    /// The minimum wait, in nanoseconds.
    public let minimum: UInt64

    /// The maximum wait, in nanoseconds.
    public let maximum: UInt64

    /// From 20 seconds to 3 minutes: a complete look takes milliseconds, so it costs less than a thousandth.
    public static let standard = Self(minimumSeconds: 20, maximumSeconds: 180)

    /// Creates a schedule.
    ///
    /// - Parameters:
    ///   - minimum: Seconds; at least one.
    ///   - maximum: Seconds; no less than `minimum`, and at most a day.
    public init(minimumSeconds minimum: UInt32, maximumSeconds maximum: UInt32) {
        let shortest = min(max(1, UInt64(minimum)), 86_400)
        self.minimum = shortest * 1_000_000_000
        self.maximum = min(max(shortest, UInt64(maximum)), 86_400) * 1_000_000_000
    }

    /// The next wait.
    func next(_ randomness: inout some RandomNumberGenerator) -> UInt64 {
        UInt64.random(in: self.minimum...self.maximum, using: &randomness)
    }
}

/// A sequence for shuffling, from one random number (SplitMix64, Steele and others 2014). Not fit for keys.
struct SeededOrder: RandomNumberGenerator {
    /// The state.
    var state: UInt64

    /// The next number.
    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
