// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

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
    init(of detector: String, _ body: (inout [TamperSignal]) throws(Unobservable) -> Void) {
        do throws(Unobservable) {
            try body(&self.signals)
        } catch {
            self.blindSpots.append(BlindSpot(detector: detector, reason: error))
        }
    }
}
