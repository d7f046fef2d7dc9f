// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A mapping of this process.
public struct MemoryRegion: Hashable, Sendable {
    /// What may be done in a mapping.
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
        /// What is written reaches the file.
        public static let shared = Self(rawValue: 8)
    }

    /// The first address.
    public let start: UInt64

    /// The first address behind it.
    public let end: UInt64

    /// What may be done in it.
    public let permissions: Permissions

    /// Where it begins in its file.
    public let offset: UInt64

    /// The number of its file in its file system; 0 without a file.
    public let inode: UInt64

    /// Its file, as the system calls it: empty for memory without one, in brackets for the system's own
    /// (`[vdso]`), with ` (deleted)` behind it when the file is gone.
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

    /// Whether it is memory without a file that is not the system's own either.
    var isAnonymous: Bool { self.path.isEmpty || self.path.hasPrefix("[anon:") }

    /// Whether it is mapped from a file, also one that is deleted or that never had a place on a disk.
    var hasFile: Bool { self.inode != 0 }

    /// Whether it is mapped from a file that exists in memory only (memfd_create(2)).
    var isMemoryFile: Bool { self.path.hasPrefix("/memfd:") }

    /// Whether its file has no name any more.
    var isDeleted: Bool { self.path.hasSuffix(" (deleted)") }

    /// Whether `other` begins where this one ends, in memory as in the same file.
    func continues(with other: Self) -> Bool {
        self.hasFile && self.end == other.start && self.inode == other.inode && self.path == other.path
            && self.offset &+ (self.end &- self.start) == other.offset
    }
}
