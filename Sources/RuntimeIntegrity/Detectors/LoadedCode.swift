// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The code of a process: what is mapped, with the files that it was mapped from.
struct LoadedCode {
    /// The images; the program comes first.
    let images: LoadedImages
    /// The memory, by address.
    let memory: ExecutableBytes
    /// Files that could not be read or understood, by their names. What points into them is not judged.
    let unread: [String]
    /// The mappings with code, as they were then.
    let regions: [MemoryRegion]

    /// Reads the headers of every file that code is mapped from.
    ///
    /// What is mapped from memory, or from a file that is gone, is left out: code that points there is a finding.
    ///
    /// - Parameter readsFirstOnly: Reads no files but those of ``first``; the others are opaque.
    init(_ machine: any ObservedMachine, readsFirstOnly: Bool = false) throws(Unobservable) {
        let program = try machine.linkTarget(of: "/proc/self/exe")
        self.regions = try machine.executableRegions()
        var files: [(first: MemoryRegion, ranges: [Range<UInt64>])] = []
        var places: [String: Int] = [:]
        for region in self.regions where region.start < region.end {
            guard !region.isAnonymous, !region.isMemoryFile, !region.isDeleted else { continue }
            if let place = places[region.path] {
                files[place].ranges.append(region.start..<region.end)
            } else {
                places[region.path] = files.count
                files.append((region, [region.start..<region.end]))
            }
        }
        var all: [LoadedImage] = []
        var unread: [String] = []
        let pieces = FilePieces()
        for (number, (region, ranges)) in files.enumerated() {
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

    private static func image(_ file: ExecutableBytes, _ region: MemoryRegion) -> LoadedImage? {
        #if canImport(Darwin)
        guard let architecture = CodeArchitecture.own, let image = try? MachOImage(file, architecture: architecture)
        else { return nil }
        #else
        guard let image = try? ELFImage(file) else { return nil }
        #endif
        return LoadedImage(path: region.path, image: image, codeMappedAt: region.start, offset: region.offset)
    }

    /// As many bytes as lie there: where not all can be read at once, a page at a time.
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
