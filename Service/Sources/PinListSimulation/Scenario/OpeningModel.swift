// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The times at which installations are opened. Each is opened independently of the others; a start during a session is
/// a part of it.
public enum OpeningModel: Hashable, Sendable {
    /// The openings of one installation are Poisson; its rate is Gamma with this shape and the mean shape/scale.
    ///
    /// - Parameters:
    ///   - shape: The smaller, the more installations are opened rarely; 0.01 to 1,000.
    ///   - scale: The longer, the rarer openings are; from a minute.
    case gammaPoisson(shape: Double, scale: TimeSpan)

    /// On each day, counted from the beginning, each installation is opened with this probability, at a moment of the day
    /// that any other is as likely as.
    case daily(share: Double)

    /// The openings as they were recorded; installations take the recorded ones in turn.
    case trace(OpeningTrace)
}

/// Recorded openings.
public struct OpeningTrace: Hashable, Sendable {
    /// The maximum number of bytes of a file (formats.md, section 11).
    public static let maximumBytes = 64 << 20
    /// The maximum number of openings: 80 MB of memory.
    public static let maximumOpenings = 10_000_000

    /// The openings of all installations, in seconds from the beginning, those of one installation behind each other.
    let moments: [Int64]
    /// The end of each installation's openings in ``moments``.
    let ends: [Int]

    /// The defect by which a file is no trace.
    public struct ModelError: Error, Hashable, Sendable {
        /// The line, from 1.
        public let line: Int
        /// The defect, without a full stop.
        public let reason: String
    }

    /// Puts a trace together.
    ///
    /// - Parameter openings: Of each installation the moments in seconds from the beginning, ascending.
    public init(_ openings: [[Int64]]) {
        self.moments = openings.flatMap { $0 }
        var end = 0
        self.ends = openings.map { moments in
            end += moments.count
            return end
        }
    }

    /// Reads a file: a line for each installation, in it whole seconds from the beginning, ascending, with blanks between.
    /// An empty line is an installation that is never opened.
    ///
    /// - Parameter bytes: At most ``maximumBytes``.
    /// - Throws: ``ModelError``.
    public init(_ bytes: [UInt8]) throws(ModelError) {
        guard bytes.count <= Self.maximumBytes else {
            throw ModelError(line: 1, reason: "over \(Self.maximumBytes >> 20) MiB")
        }
        var moments: [Int64] = []
        var ends: [Int] = []
        var number: Int64?
        var last: Int64 = -1
        func finishNumber() throws(ModelError) {
            guard let finished = number else { return }
            guard finished >= last else {
                throw ModelError(line: ends.count + 1, reason: "the moments are not in ascending order")
            }
            guard moments.count < Self.maximumOpenings else {
                throw ModelError(line: ends.count + 1, reason: "over \(Self.maximumOpenings) openings")
            }
            moments.append(finished)
            last = finished
            number = nil
        }
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let next = (number ?? 0) * 10 + Int64(byte - UInt8(ascii: "0"))
                guard next <= TimeSpan.maximum else {
                    throw ModelError(line: ends.count + 1, reason: "a moment is over \(TimeSpan.maximum) seconds")
                }
                number = next
            case UInt8(ascii: " "), UInt8(ascii: "\r"): try finishNumber()
            case UInt8(ascii: "\n"):
                try finishNumber()
                ends.append(moments.count)
                last = -1
            default: throw ModelError(line: ends.count + 1, reason: "there is something else than digits and blanks")
            }
        }
        try finishNumber()
        if let byte = bytes.last, byte != UInt8(ascii: "\n") { ends.append(moments.count) }
        guard !ends.isEmpty else { throw ModelError(line: 1, reason: "nothing is in it") }
        self.moments = moments
        self.ends = ends
    }

    /// The range of a client's openings in ``moments``.
    func range(of client: Int) -> Range<Int> {
        guard !self.ends.isEmpty else { return 0..<0 }
        let line = client % self.ends.count
        return (line == 0 ? 0 : self.ends[line - 1])..<self.ends[line]
    }
}
