// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A detector of one kind of trace.
///
/// A value. It uses the machine through ``ObservedMachine`` only, so that it can be tested on recordings of real
/// machines.
public protocol TamperDetector: Sendable {
    /// Its name in blind spots.
    var name: String { get }

    /// Its cost in time.
    var cost: DetectorCost { get }

    /// Looks once. It may cache places, and an answer while all its inputs are unchanged.
    func look(at machine: any ObservedMachine) -> DetectorAnswer
}

/// The findings of a detector: its signals and its blind spots.
///
/// A blind spot is an answer of its own: a process that cannot be read is not a clean one.
public struct DetectorAnswer: Hashable, Sendable {
    /// The signals; empty for a clean process.
    public var signals: [TamperSignal] = []

    /// The blind spots.
    public var blindSpots: [BlindSpot] = []

    /// No findings.
    public init() {}

    /// Creates findings with these signals.
    public init(_ signals: [TamperSignal]) { self.signals = signals }

    /// Runs a look, and adds a blind spot when it fails.
    ///
    /// - Parameters:
    ///   - detector: The detector.
    ///   - body: The look, which adds its signals.
    init(of detector: String, _ body: (inout [TamperSignal]) throws(ObservationError) -> Void) {
        do throws(ObservationError) {
            try body(&self.signals)
        } catch {
            self.blindSpots.append(BlindSpot(detector: detector, reason: error))
        }
    }
}

/// The cost of a detector, which decides when it runs.
public struct DetectorCost: Hashable, Sendable, CustomStringConvertible {
    /// `connection` or `occasional`.
    public let description: String

    private init(_ description: String) { self.description = description }

    /// Some tens of microseconds: before each connection.
    public static let connection = Self("connection")
    /// More time, or waiting: at start and at random times.
    public static let occasional = Self("occasional")
}
