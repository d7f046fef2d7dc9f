// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The executable mappings out of `/proc/self/maps`, which comes in pieces.
///
/// Only what is executable is kept: a process has ten times as many other mappings, and neither their number nor the
/// length of the list may blind the detectors.
struct ExecutableRegions {
    /// The most executable mappings that are kept. Programs that were looked at have 10 to 150.
    static let most = 8_192

    /// Those that were read.
    private(set) var regions: [MemoryRegion] = []

    private var held: [UInt8] = []

    /// Reads on.
    ///
    /// - Throws: ``Unobservable`` when a line cannot be understood, or there are too many.
    mutating func read(_ piece: UnsafeRawBufferPointer) throws(Unobservable) {
        var start = 0
        while let end = Self.newline(in: piece, from: start) {
            let part = UnsafeRawBufferPointer(rebasing: piece[start..<end])
            if self.held.isEmpty {
                if let failure = self.add(part) { throw failure }
            } else {
                self.held.append(contentsOf: part)
                let line = self.held
                self.held.removeAll()
                if let failure = line.withUnsafeBytes({ self.add($0) }) { throw failure }
            }
            start = end + 1
        }
        // A line has a path at its end, at most.
        guard self.held.count + piece.count - start <= 2 * ObservationLimits.pathBytes else {
            throw Unobservable(.malformed, "list of mappings")
        }
        self.held.append(contentsOf: piece[start...])
    }

    private static func newline(in piece: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var position = start
        while position < piece.count {
            if piece[position] == 0x0A { return position }
            position += 1
        }
        return nil
    }

    /// - Returns: Why not, when it cannot be kept.
    private mutating func add(_ line: UnsafeRawBufferPointer) -> Unobservable? {
        // The letters of the permissions stand behind the first space: the third says whether it can be executed.
        var space = 0
        while space < line.count, line[space] != 0x20 { space += 1 }
        guard space + 4 < line.count else { return Unobservable(.malformed, "list of mappings") }
        guard line[space + 3] == 0x78 else { return nil }
        guard let region = MemoryRegion(parsing: line) else { return Unobservable(.malformed, "list of mappings") }
        guard self.regions.count < Self.most else { return Unobservable(.tooLarge, "list of mappings") }
        self.regions.append(region)
        return nil
    }
}
