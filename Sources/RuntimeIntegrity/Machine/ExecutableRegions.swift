// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A parser of the executable mappings in `/proc/self/maps`, which is read in pieces.
///
/// Only executable mappings are kept: a process has ten times as many others, and neither their number nor the
/// length of the list may blind the detectors.
struct ExecutableRegions {
    /// The maximum number of executable mappings. Measured programs have 10 to 150.
    static let maximum = 8_192

    /// The mappings so far.
    private(set) var regions: [MemoryRegion] = []

    private var held: [UInt8] = []

    /// Reads the next piece.
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
        // The longest line ends in a path of the maximum length.
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

    /// - Returns: The reason when it cannot be kept.
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

/// A parser of the code with copied pages in `/proc/self/smaps` (proc(5)), which is read in pieces.
///
/// The line of a mapping is followed by lines that begin with an upper case letter; `Anonymous:` has the kibibytes that
/// are not the file's.
struct CopiedCode {
    /// The mappings that were read and have such pages.
    private(set) var changed: [ChangedPages] = []

    private let pageSize: UInt64
    private var region: MemoryRegion?
    private var held: [UInt8] = []

    /// Creates a reader.
    init(pageSize: UInt64) { self.pageSize = max(pageSize, 1) }

    /// Reads the next piece.
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
        // A page that the system counts in part is a changed page.
        let pages = max(kibibytes * 1_024 / self.pageSize, 1)
        self.changed.append(ChangedPages(path: region.path, count: Int(clamping: pages)))
    }
}
