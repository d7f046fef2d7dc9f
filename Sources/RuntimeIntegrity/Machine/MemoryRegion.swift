// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A mapping of this process.
public struct MemoryRegion: Hashable, Sendable {
    /// The protection of a mapping.
    public struct Permissions: OptionSet, Hashable, Sendable {
        /// The bits: 1 for reading, 2 for writing, 4 for executing, 8 for sharing.
        public let rawValue: UInt8

        /// Creates a set.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Reading.
        public static let read = Self(rawValue: 1)
        /// Writing.
        public static let write = Self(rawValue: 2)
        /// Executing.
        public static let execute = Self(rawValue: 4)
        /// Shared: writes reach the file.
        public static let shared = Self(rawValue: 8)
    }

    /// The first address.
    public let start: UInt64

    /// The first address after it.
    public let end: UInt64

    /// The protection.
    public let permissions: Permissions

    /// The offset in its file.
    public let offset: UInt64

    /// The inode number of its file, or of the kernel's own for memory that processes share; else 0.
    public let inode: UInt64

    /// Its file, as the system names it: empty for memory without one, which may have a name of the system's all the same
    /// (`[heap]`, `/dev/zero (deleted)`); in brackets for the system's own (`[vdso]`); with ` (deleted)` at the end for a
    /// deleted file.
    public let path: String

    /// Creates a region.
    public init(
        start: UInt64, end: UInt64, permissions: Permissions, offset: UInt64 = 0, inode: UInt64 = 0, path: String = ""
    ) {
        self.start = start
        self.end = end
        self.permissions = permissions
        self.offset = offset
        self.inode = inode
        self.path = path
    }

    /// The beginnings of Linux's names of memory without a file (proc(5)): with a name that the program gave it, the heap,
    /// stacks, and what processes share or what has huge pages, for which the kernel has files of its own.
    private static let namesOfMemory = ["[anon:", "[anon_shmem:", "[heap]", "[stack", "/SYSV", "/anon_hugepage"]

    /// Whether it is memory without a file that is not the system's own either. Memory that processes share is
    /// `/dev/zero (deleted)`, and has an inode number.
    var isAnonymous: Bool {
        self.path.isEmpty || self.path == "/dev/zero" || self.path == "/dev/zero" + Self.deletedMark
            || Self.namesOfMemory.contains { self.path.hasPrefix($0) }
    }

    /// Whether it is mapped from a file, also one that is deleted or that never had a place on a disk.
    var hasFile: Bool { self.inode != 0 && !self.isAnonymous }

    /// Whether it is mapped from a file that exists in memory only (memfd_create(2)).
    var isMemoryFile: Bool { self.path.hasPrefix("/memfd:") }

    /// The system's mark at the end of the path of a deleted file (proc(5)).
    static let deletedMark = " (deleted)"

    /// Whether its file was deleted.
    var isDeleted: Bool { self.path.hasSuffix(Self.deletedMark) }

    /// Whether `other` begins where this one ends, in memory as in the same file.
    func continues(with other: Self) -> Bool {
        self.hasFile && self.end == other.start && self.inode == other.inode && self.path == other.path
            && self.offset &+ (self.end &- self.start) == other.offset
    }
}

extension MemoryRegion {
    /// Reads a line of `/proc/self/maps` (proc(5)):
    /// `start-end perms offset device inode              path`, numbers in base 16 but for the inode.
    ///
    /// - Returns: `nil` for any other form.
    init?(parsing line: UnsafeRawBufferPointer) {
        var rest = MapsLine(line)
        guard
            let start = rest.number(base: 16, upTo: 0x2D),
            let end = rest.number(base: 16, upTo: 0x20), start < end,
            let permissions = rest.permissions(),
            let offset = rest.number(base: 16, upTo: 0x20),
            rest.skip(past: 0x20),
            let inode = rest.number(base: 10, upTo: 0x20)
        else { return nil }
        self.init(
            start: start, end: end, permissions: permissions, offset: offset, inode: inode, path: rest.path())
    }
}

/// A line that is parsed from its beginning.
private struct MapsLine {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Reads a number that ends before `end` or with the line.
    mutating func number(base: UInt64, upTo end: UInt8) -> UInt64? {
        var number: UInt64 = 0
        let start = self.position
        while self.position < self.bytes.count, self.bytes[self.position] != end {
            let byte = self.bytes[self.position]
            let digit: UInt8
            switch byte {
            case 0x30...0x39: digit = byte - 0x30
            case 0x61...0x66 where base == 16: digit = byte - 0x61 + 10
            default: return nil
            }
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: base)
            guard !isTooLarge else { return nil }
            let (sum, isStillTooLarge) = product.addingReportingOverflow(UInt64(digit))
            guard !isStillTooLarge else { return nil }
            number = sum
            self.position += 1
        }
        guard self.position > start else { return nil }
        self.position += 1
        return number
    }

    /// Reads four letters and a space.
    mutating func permissions() -> MemoryRegion.Permissions? {
        guard self.position + 4 < self.bytes.count else { return nil }
        var permissions: MemoryRegion.Permissions = []
        if self.bytes[self.position] == 0x72 { permissions.insert(.read) }
        if self.bytes[self.position + 1] == 0x77 { permissions.insert(.write) }
        if self.bytes[self.position + 2] == 0x78 { permissions.insert(.execute) }
        if self.bytes[self.position + 3] == 0x73 { permissions.insert(.shared) }
        self.position += 5
        return permissions
    }

    mutating func skip(past end: UInt8) -> Bool {
        while self.position < self.bytes.count {
            self.position += 1
            if self.bytes[self.position - 1] == end { return true }
        }
        return false
    }

    /// The rest of the line without leading spaces. A path may have spaces in it.
    mutating func path() -> String {
        while self.position < self.bytes.count, self.bytes[self.position] == 0x20 { self.position += 1 }
        guard self.position < self.bytes.count else { return "" }
        return String(decoding: UnsafeRawBufferPointer(rebasing: self.bytes[self.position...]), as: UTF8.self)
    }
}

/// The code that is looked at page by page.
///
/// A program with Foundation has 5,000 pages of code, which take longer than one connection should wait.
public struct PageScope: Hashable, Sendable {
    /// The libraries whose code attackers change first, by the beginnings of their names: C's library, the loader, and
    /// those that make TLS.
    public static let changedFirst = ["libc.so", "libc-", "ld-", "libpthread", "libssl", "libcrypto"]

    /// The beginnings of names of files; `nil` for all files.
    public let names: [String]?

    /// The maximum number of pages of each region.
    public let pagesOfRegion: Int

    /// The choice of pages, where a region has more.
    public let choice: UInt64

    /// All code.
    public static let everything = Self(names: nil, pagesOfRegion: .max)

    /// The code of the libraries in ``changedFirst``, and of the program or library that this module is linked into: 4 MiB
    /// of each region, which is all of most. The kernel takes 30 ns for a page; a server with SwiftNIO has 19 MiB.
    ///
    /// - Parameter choice: A random number, which chooses 4 MiB of a larger region.
    public static func perConnection(choice: UInt64) -> Self {
        Self(names: Self.changedFirst, pagesOfRegion: 1_024, choice: choice)
    }

    /// Creates a scope.
    public init(names: [String]?, pagesOfRegion: Int, choice: UInt64 = 0) {
        self.names = names
        self.pagesOfRegion = pagesOfRegion
        self.choice = choice
    }

    /// The addresses of a region that are looked at; empty when it is not.
    ///
    /// - Parameter isOurs: Whether this module's own code is in it.
    func pages(of region: MemoryRegion, isOurs: Bool, pageSize: UInt64) -> Range<UInt64> {
        let none = region.start..<region.start
        if let names = self.names, !isOurs {
            let file = PrintableEvidence.name(ofPath: region.path)
            guard names.contains(where: { file.hasPrefix($0) }) else { return none }
        }
        let all = (region.end - region.start) / pageSize
        let count = min(all, UInt64(max(0, self.pagesOfRegion)))
        let start = region.start + self.choice % (all - count + 1) * pageSize
        return start..<start + count * pageSize
    }
}

/// Pages of a file's code that are no longer the file's.
public struct ChangedPages: Hashable, Sendable {
    /// The file.
    public let path: String

    /// The number of pages, at least one.
    public let count: Int

    /// Creates a value.
    public init(path: String, count: Int) {
        self.path = path
        self.count = count
    }
}
