// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The limit on the bytes of unfinished bodies that are held at a time, for all senders together.
///
/// What arrives is counted, not what is announced: an announcement costs nothing. One source holds little, and what of
/// a body lies beyond the size of a usual report comes out of a pot of its own, so that a sender of slow, large bodies
/// keeps no other from reporting.
package struct BodyBudget: Sendable {
    /// A body that is being read.
    package struct Body: Sendable {
        /// The key by which sources are limited.
        fileprivate let source: [UInt8]?
        fileprivate var bytes = 0

        /// A body of which nothing was read.
        package init(from source: SourceAddress?) { self.source = source?.limited }
    }

    /// The maximum number of bytes of all bodies, as far as each is no larger than a usual report.
    static let maximumUsual = 67_108_864
    /// The maximum number of bytes of all bodies beyond that (formats.md, section 7).
    static let maximumBeyond = 67_108_864
    /// The maximum number of bytes of one source: two of the largest bodies.
    static let maximumOfOneSource = 12_582_912

    /// The part that is no more than a usual report, in bytes.
    package let usual: Int
    private var usualBytes = 0
    private var beyondBytes = 0
    private var sources: [[UInt8]: Int] = [:]
    private var turnedAway = TurnedAway(of: BodyBudget.maximumUsual)

    /// A budget of which nothing is taken.
    ///
    /// - Parameter usual: The length of a usual report, in bytes.
    package init(usual: Int) { self.usual = usual }

    /// Bytes that are held.
    package var held: Int { self.usualBytes + self.beyondBytes }

    /// Makes room for bytes that arrived.
    ///
    /// - Returns: Whether there was any. Otherwise nothing was taken.
    package mutating func take(_ count: Int, for body: inout Body) -> Bool {
        let grown = body.bytes + count
        let usual = min(grown, self.usual) - min(body.bytes, self.usual)
        guard self.usualBytes + usual <= Self.maximumUsual, self.beyondBytes + count - usual <= Self.maximumBeyond
        else {
            return false
        }
        if let source = body.source {
            guard self.sources[source, default: 0] + count <= Self.maximumOfOneSource else { return false }
            self.sources[source, default: 0] += count
        }
        self.usualBytes += usual
        self.beyondBytes += count - usual
        body.bytes = grown
        return true
    }

    /// Turns a body away for which there was no room.
    ///
    /// - Returns: The length of the line, in seconds. A source that holds all that one source may makes it no longer.
    package mutating func turnAway(_ body: Body) -> Int64 {
        let ofSource = body.source.flatMap { self.sources[$0] } ?? 0
        let count = ofSource + self.usual > Self.maximumOfOneSource ? 0 : self.usual
        return self.turnedAway.add(count, behind: self.held)
    }

    /// Gives back all that was taken for a body.
    package mutating func end(_ body: Body) {
        let usual = min(body.bytes, self.usual)
        self.usualBytes -= usual
        self.beyondBytes -= body.bytes - usual
        self.turnedAway.took(body.bytes, leaving: self.held)
        guard let source = body.source, let held = self.sources[source] else { return }
        self.sources[source] = held > body.bytes ? held - body.bytes : nil
    }
}
