// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The most of everything that is read of an executable: its file may be hostile.
///
/// The numbers bound the work and what is held. They lie above what was counted in the libraries of Swift 6.3.1 and in
/// Chromium 156, the largest program at hand.
enum ImageLimits {
    /// Program headers of an ELF file, segments of a Mach-O file. Linkers write about 10.
    static let segments = 128
    /// Entries of ELF's dynamic section. Linkers write about 30, and one for each library.
    static let dynamicEntries = 4_096
    /// Section headers of an ELF file. A file with more is read without its full symbol table.
    static let sections = 4_096
    /// Libraries that an image names.
    static let libraries = 1_024
    /// Symbols of one table. Swift's own libraries have up to 51,000. They are not held: they are read in passing.
    static let symbols = 1 << 21
    /// Relocations or bound pointers of an image, not held. Chromium has 1.1 million.
    static let relocations = 1 << 21
    /// Relocations inside of code, which are held: 16 bytes each.
    static let codeRelocations = 16_384
    /// UTF-8 bytes of a symbol's name. Swift's own libraries have up to 213; generic code of apps has longer ones.
    static let nameLength = 8_192
    /// Bytes of ELF's notes that are searched for the build identifier.
    static let noteBytes = 4_096
    /// Symbols of one hash bucket that are looked at. Linkers aim at a few.
    static let hashChain = 4_096
    /// Definitions of one name in one image: one for each version of it.
    static let definitions = 16
    /// Mach-O load commands.
    static let loadCommands = 4_096
    /// Bytes of Mach-O's load commands: one read.
    static let loadCommandBytes = ExecutableBytes.longestRead
    /// Architectures in a fat Mach-O file.
    static let slices = 32
    /// Imported names of Mach-O's chained fixups.
    static let imports = 1 << 18
    /// Steps of a walk through Mach-O's trie of exported names: each takes at least one byte of the name.
    static let trieSteps = nameLength
    /// Bytes of that tree that one search reads: a node has some ten edges of some hundred bytes.
    static let trieBytes = 1 << 18
    /// Symbols of a Mach-O file without that tree: an old one, in which each search goes through all.
    static let unindexedSymbols = 65_536
}
