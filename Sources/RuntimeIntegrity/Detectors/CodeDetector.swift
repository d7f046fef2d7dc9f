// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Compares code with the files that it was mapped from.
///
/// The C library, the loader and the TLS libraries are compared as a whole. Of the program and of all other images some
/// part is compared each time, from a random place: after some looks all of it was compared, in an unpredictable order.
public struct CodeDetector: TamperDetector {
    /// The number of chunks of 64 KiB of the program that are compared at a time: 8 MiB.
    static let chunksOfProgram = 128
    /// The number of chunks of the other images that are compared at a time: 4 MiB.
    static let chunksOfOthers = 64

    /// `code`.
    public let name = "code"
    /// Occasional: it takes some milliseconds.
    public let cost = DetectorCost.occasional

    private let random: @Sendable () -> UInt64

    /// Creates the detector.
    ///
    /// - Parameter random: The source of the random places.
    public init(random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }) {
        self.random = random
    }

    /// Compares.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(ObservationError) in
            let code = try LoadedCode(machine)
            let first = Set(code.first)
            var found: [(path: String, result: CodeComparisonResult)] = []
            var program: [Part] = []
            var others: [Part] = []
            for (index, loaded) in code.images.all.enumerated() {
                guard let image = loaded.image,
                    let comparison = try? CodeComparison(of: image, bias: loaded.bias, memory: code.memory)
                else { continue }
                if index == 0 {
                    program.append(Part(path: loaded.path, comparison: comparison))
                } else if first.contains(index) {
                    found.append((loaded.path, comparison.result()))
                } else {
                    others.append(Part(path: loaded.path, comparison: comparison))
                }
            }
            found += self.some(Self.chunksOfProgram, of: program) + self.some(Self.chunksOfOthers, of: others)
            for (path, result) in found where !result.differences.isEmpty {
                signals.append(.init(.changedCode, .high, Self.words(path, result)))
            }
            if let path = code.unread.first ?? found.first(where: { !$0.result.unreadable.isEmpty })?.path {
                throw ObservationError(.refused, "code of \(PrintableEvidence.name(ofPath: path))")
            }
        }
    }

    /// An image with the chunks that are compared.
    private struct Part {
        let path: String
        let comparison: CodeComparison
    }

    /// The next chunks from somewhere on.
    private func some(_ chunks: Int, of parts: [Part]) -> [(path: String, result: CodeComparisonResult)] {
        var round = ComparisonRound(parts.map(\.comparison), from: self.random())
        return round.next(chunks).map { (parts[$0.index].path, $0.result) }
    }

    private static func words(_ path: String, _ result: CodeComparisonResult) -> String {
        let count = "\(result.differences.count)\(result.hasMore ? " or more" : "")"
        let symbol = result.differences.lazy.compactMap { $0.symbol?.name }.first.map { ", one of them in \($0)" } ?? ""
        return "code of \(PrintableEvidence.name(ofPath: path)) differs from its file in \(count) places\(symbol)"
    }
}

/// The code of a process: its mappings and their files.
struct LoadedCode {
    /// The images; the program comes first.
    let images: LoadedImages
    /// The memory, by address.
    let memory: ExecutableBytes
    /// The names of files that could not be read or understood. Pointers into them are not evaluated.
    let unread: [String]
    /// The mappings with code at that time.
    let regions: [MemoryRegion]

    /// Reads the headers of every file that code is mapped from.
    ///
    /// Memory without a file, or from a deleted file, is left out: code that points there is a finding. A library that
    /// an update has replaced is deleted, too: where an image needs it and no other is it, it is opaque and unread.
    ///
    /// - Parameter readsFirstOnly: Reads no files but those of ``first``; the others are opaque.
    init(_ machine: any ObservedMachine, readsFirstOnly: Bool = false) throws(ObservationError) {
        let program = try machine.linkTarget(of: "/proc/self/exe")
        self.regions = try machine.executableRegions()
        var files: [(first: MemoryRegion, ranges: [Range<UInt64>])] = []
        var places: [String: Int] = [:]
        for region in self.regions where region.start < region.end {
            guard !region.isAnonymous, !region.isMemoryFile else { continue }
            if let place = places[region.path] {
                files[place].ranges.append(region.start..<region.end)
            } else {
                places[region.path] = files.count
                files.append((region, [region.start..<region.end]))
            }
        }
        var all: [LoadedImage] = []
        var deleted: [LoadedImage] = []
        var unread: [String] = []
        let pieces = FilePieces()
        for (number, (region, ranges)) in files.enumerated() {
            guard !region.isDeleted else {
                deleted.append(LoadedImage(path: region.path, opaque: ranges))
                continue
            }
            let file = ExecutableBytes { offset, count in
                pieces.bytes(of: number, at: offset, count: count) { offset, count in
                    try? machine.bytes(of: region.path, at: offset, count: count)
                }
            }
            let isRead = region.hasFile && (!readsFirstOnly || region.path == program || Self.isFirst(region.path))
            let loaded = isRead ? Self.image(file, region) : nil
            if loaded == nil, isRead { unread.append(PrintableEvidence.name(ofPath: region.path)) }
            let image = loaded ?? LoadedImage(path: region.path, opaque: ranges)
            if region.path == program { all.insert(image, at: 0) } else { all.append(image) }
        }
        let present = all
        for image in deleted where image.path == program || Self.isReplaced(image.path, beside: present) {
            unread.append(PrintableEvidence.name(ofPath: image.path))
            if image.path == program { all.insert(image, at: 0) } else { all.append(image) }
        }
        self.images = LoadedImages(all)
        self.unread = unread
        self.memory = Self.memory(of: machine)
    }

    /// The memory of this process, by address.
    static func memory(of machine: any ObservedMachine) -> ExecutableBytes {
        ExecutableBytes { address, count in Self.memory(machine, address, count) }
    }

    /// The images that attackers change first, by their index: the program, and libraries that are known for it.
    var first: [Int] {
        self.images.all.indices.filter { index in
            index == 0 || Self.isFirst(self.images.all[index].path)
        }
    }

    private static func isFirst(_ path: String) -> Bool {
        let file = PrintableEvidence.name(ofPath: path)
        return PageScope.changedFirst.contains { file.hasPrefix($0) }
    }

    /// Whether a deleted file is a library that one of these images needs, and that none of them is.
    private static func isReplaced(_ path: String, beside images: [LoadedImage]) -> Bool {
        let name = self.unversioned(path)
        let isNeeded = images.contains { ($0.image?.libraries ?? []).contains { self.unversioned($0) == name } }
        return isNeeded && !images.contains { self.unversioned($0.path) == name }
    }

    /// The name of a library without its version: `libc` of `libc.so.6` as of `libc-2.31.so`.
    private static func unversioned(_ path: String) -> Substring {
        (path.split(separator: "/").last ?? "").prefix { $0 != "." && $0 != "-" }
    }

    private static func image(_ file: ExecutableBytes, _ region: MemoryRegion) -> LoadedImage? {
        #if canImport(Darwin)
        guard let architecture = CodeArchitecture.own, let image = try? MachOImage(file, architecture: architecture)
        else { return nil }
        #else
        guard let image = try? ELFImage(file) else { return nil }
        #endif
        return LoadedImage(path: region.path, image: image, codeMappedAt: region.start, offset: region.offset)
    }

    /// Reads as many bytes as are mapped: where not all can be read at once, a page at a time.
    private static func memory(_ machine: any ObservedMachine, _ address: UInt64, _ count: Int) -> [UInt8]? {
        if let whole = try? machine.bytes(at: address, count: count) { return whole }
        let page = 4_096
        guard count > page else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            let wanted = min(page, count - bytes.count)
            guard let piece = try? machine.bytes(at: address + UInt64(bytes.count), count: wanted) else { break }
            bytes += piece
        }
        return bytes.isEmpty ? nil : bytes
    }
}

/// A cache of pieces of files during one look, so that small reads of the same tables need one system call.
///
/// Symbols are looked up in many places of a file, 64 bytes at a time: without the cache a look at all calls of a
/// program took 30,000 system calls. Each piece has one place, by its number; a later piece replaces the earlier one.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class FilePieces: @unchecked Sendable {
    /// The bytes of a piece.
    static let size = 4_096
    /// The number of pieces: half of the mebibyte that this module may hold at any time.
    static let maximum = 128

    private struct Piece {
        let file: Int
        let number: UInt64
        let bytes: [UInt8]
    }

    private let lock = NSLock()
    private var held = [Piece?](repeating: nil, count: FilePieces.maximum)

    /// Bytes of a file: as many as asked, or fewer at its end; `nil` where it cannot be read.
    ///
    /// - Parameters:
    ///   - file: A number for the file, the same each time.
    ///   - offset: Of the first byte.
    ///   - count: The number of entries. More than ``size`` are read at once, and not held.
    ///   - read: Reads the file.
    func bytes(
        of file: Int, at offset: UInt64, count: Int, _ read: (_ offset: UInt64, _ count: Int) -> [UInt8]?
    ) -> [UInt8]? {
        guard count <= Self.size else { return read(offset, count) }
        let size = UInt64(Self.size)
        guard let first = self.piece(offset / size, of: file, read) else { return nil }
        let start = Int(offset % size)
        guard start < first.count else { return nil }
        let end = min(start + count, first.count)
        // A piece that is not whole is the file's last.
        guard end - start < count, first.count == Self.size else { return Array(first[start..<end]) }
        let second = self.piece(offset / size + 1, of: file, read) ?? []
        return Array(first[start...] + second[..<min(count - (end - start), second.count)])
    }

    private func piece(
        _ number: UInt64, of file: Int, _ read: (_ offset: UInt64, _ count: Int) -> [UInt8]?
    ) -> [UInt8]? {
        // Files have different offsets, so that their first pieces do not share a place.
        let place = Int((number &+ UInt64(truncatingIfNeeded: file) &* 37) % UInt64(Self.maximum))
        let known = self.lock.withLock { self.held[place] }
        if let known, known.file == file, known.number == number { return known.bytes }
        guard let bytes = read(number * UInt64(Self.size), Self.size) else { return nil }
        self.lock.withLock { self.held[place] = Piece(file: file, number: number, bytes: bytes) }
        return bytes
    }
}
