// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Which code is looked at page by page.
///
/// All code of a program with Foundation is 5,000 pages, which takes longer than one connection should wait.
public struct PageScope: Hashable, Sendable {
    /// The libraries whose code attackers change first, by the beginnings of their names: C's library, the loader, and
    /// those that make TLS.
    public static let changedFirst = ["libc.so", "libc-", "ld-", "libpthread", "libssl", "libcrypto"]

    /// The beginnings of names of files; `nil` for all files.
    public let names: [String]?

    /// The most pages of each region.
    public let pagesOfRegion: Int

    /// Chooses which, where a region has more.
    public let choice: UInt64

    /// All code.
    public static let everything = Self(names: nil, pagesOfRegion: .max)

    /// The code of the libraries in ``changedFirst``, and of the program or library that this module is linked into: 4 MiB
    /// of each region, which is all of most. The kernel takes 30 ns for a page; a server with SwiftNIO has 19 MiB.
    ///
    /// - Parameter choice: Any number, left to chance: which 4 MiB of a larger region.
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
