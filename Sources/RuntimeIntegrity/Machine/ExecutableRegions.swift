// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The executable mappings out of `/proc/self/maps`, which comes in pieces.
///
/// Only what is executable is kept: a process has ten times as many other mappings, and neither their number nor the
/// length of the list may blind the detectors.
struct ExecutableRegions {
    /// The most executable mappings that are kept. Programs that were looked at have 10 to 150.
    static let maximum = 8_192

    /// Those that were read.
    private(set) var regions: [MemoryRegion] = []

    private var held: [UInt8] = []

    /// Reads on.
    ///
    /// - Throws: ``ObservationError`` when a line cannot be understood, or there are too many.
    mutating func read(_ piece: UnsafeRawBufferPointer) throws(ObservationError) {
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
            throw ObservationError(.malformed, "list of mappings")
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
    private mutating func add(_ line: UnsafeRawBufferPointer) -> ObservationError? {
        // The letters of the permissions stand behind the first space: the third says whether it can be executed.
        var space = 0
        while space < line.count, line[space] != 0x20 { space += 1 }
        guard space + 4 < line.count else { return ObservationError(.malformed, "list of mappings") }
        guard line[space + 3] == 0x78 else { return nil }
        guard let region = MemoryRegion(parsing: line) else { return ObservationError(.malformed, "list of mappings") }
        guard self.regions.count < Self.maximum else { return ObservationError(.tooLarge, "list of mappings") }
        self.regions.append(region)
        return nil
    }
}

/// The code whose pages were copied, out of `/proc/self/smaps` (proc(5)), which comes in pieces.
///
/// Below the line of a mapping stand lines that begin with an upper case letter; `Anonymous:` says how many kibibytes
/// of it are no file's.
struct CopiedCode {
    /// The mappings that were read and have such pages.
    private(set) var changed: [ChangedPages] = []

    private let pageSize: UInt64
    private var region: MemoryRegion?
    private var held: [UInt8] = []

    /// Creates a reader.
    init(pageSize: UInt64) { self.pageSize = max(pageSize, 1) }

    /// Reads on.
    ///
    /// - Throws: ``ObservationError`` when a line cannot be understood.
    mutating func read(_ piece: UnsafeRawBufferPointer) throws(ObservationError) {
        for byte in piece {
            guard byte == 0x0A else {
                guard self.held.count < 2 * ObservationLimits.pathBytes else { throw Self.malformed }
                self.held.append(byte)
                continue
            }
            try self.endLine()
            self.held.removeAll(keepingCapacity: true)
        }
    }

    private static let malformed = ObservationError(.malformed, "state of mappings")
    private static let anonymous = Array("Anonymous:".utf8)

    private mutating func endLine() throws(ObservationError) {
        guard let first = self.held.first else { throw Self.malformed }
        guard (0x41...0x5A).contains(first) else {
            guard let region = self.held.withUnsafeBytes({ MemoryRegion(parsing: $0) }) else { throw Self.malformed }
            let isCode = region.permissions.contains(.execute) && !region.permissions.contains(.shared)
            self.region = isCode && region.hasFile ? region : nil
            return
        }
        guard let region = self.region, self.held.starts(with: Self.anonymous) else { return }
        let words = self.held[Self.anonymous.count...].split(separator: 0x20)
        guard words.count == 2, words[1].elementsEqual("kB".utf8),
            let kibibytes = UInt64(String(decoding: words[0], as: UTF8.self)), kibibytes <= UInt64(1) << 40
        else { throw Self.malformed }
        guard kibibytes > 0 else { return }
        guard self.changed.count < ExecutableRegions.maximum else {
            throw ObservationError(.tooLarge, "state of mappings")
        }
        // A page of which the system counts a part is a changed page.
        let pages = max(kibibytes * 1_024 / self.pageSize, 1)
        self.changed.append(ChangedPages(path: region.path, count: Int(pages)))
    }
}
