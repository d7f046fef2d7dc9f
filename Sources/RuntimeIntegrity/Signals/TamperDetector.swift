// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Looks at one thing.
///
/// A value. It sees the machine through ``ObservedMachine`` only, so that each is tested on what real machines showed.
public protocol TamperDetector: Sendable {
    /// What it is called where it could not look.
    var name: String { get }

    /// How much time it takes.
    var cost: DetectorCost { get }

    /// Looks once. It may hold where things are, and an answer for as long as all that it rests on is seen to be the same.
    func look(at machine: any ObservedMachine) -> DetectorAnswer
}

/// What a detector noticed, and what it could not look at.
///
/// Not to be able to look is an answer of its own: a process in which nothing can be read is not a clean one.
public struct DetectorAnswer: Hashable, Sendable {
    /// What was noticed; empty when all is as it should be.
    public var signals: [TamperSignal] = []

    /// What could not be looked at.
    public var blindSpots: [BlindSpot] = []

    /// Nothing noticed.
    public init() {}

    /// These signals.
    public init(_ signals: [TamperSignal]) { self.signals = signals }

    /// Looks, and notes when that was not possible.
    ///
    /// - Parameters:
    ///   - detector: Who looks.
    ///   - body: Adds what it notices.
    init(of detector: String, _ body: (inout [TamperSignal]) throws(ObservationError) -> Void) {
        do throws(ObservationError) {
            try body(&self.signals)
        } catch {
            self.blindSpots.append(BlindSpot(detector: detector, reason: error))
        }
    }
}

/// How much time a detector takes, and therefore when it is asked.
public struct DetectorCost: Hashable, Sendable, CustomStringConvertible {
    /// `connection` or `occasional`.
    public let description: String

    private init(_ description: String) { self.description = description }

    /// Some tens of microseconds: before each connection.
    public static let connection = Self("connection")
    /// More, or it waits for somebody: at start and at random times.
    public static let occasional = Self("occasional")
}
