// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CRuntimeProbe

#if canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

extension LinuxMachine {
    /// From `/proc/self/maps`.
    public func executableRegions() throws(ObservationError) -> [MemoryRegion] { try self.regions() }

    /// From `/proc/self/pagemap`. A present page of a private mapping of a file that is not the file's was
    /// written to.
    ///
    /// The list of mappings is read here once more: ``executableRegions()`` may be hooked.
    public func changedPages(_ scope: PageScope) throws(ObservationError) -> [ChangedPages] {
        let regions = try self.regions()
        let file = probe_open("/proc/self/pagemap")
        guard file >= 0 else { throw Self.failure(file, "state of pages") }
        defer { _ = probe_close(file) }
        let ours = probe_here()
        var changed: [ChangedPages] = []
        for region in regions where region.hasFile && !region.permissions.contains(.shared) {
            let isOurs = (region.start..<region.end).contains(ours)
            let pages = scope.pages(of: region, isOurs: isOurs, pageSize: self.pageSize)
            guard !pages.isEmpty else { continue }
            var count = -Int(ENOTTY)
            if self.asksQuickly {
                count = probe_changed_pages(file, pages.lowerBound, pages.upperBound, self.pageSize)
            }
            if count == -Int(ENOTTY) || count == -Int(EINVAL) { count = self.changedPages(in: pages, file) }
            // The region was unmapped meanwhile.
            guard count >= 0 || count == -Int(ENOMEM) else { throw Self.failure(count, "state of pages") }
            if count > 0 { changed.append(ChangedPages(path: region.path, count: count)) }
        }
        return changed
    }

    /// From `/proc/self/smaps`.
    public func copiedCode() throws(ObservationError) -> [ChangedPages] {
        var code = CopiedCode(pageSize: self.pageSize)
        try self.withPieces(of: "/proc/self/smaps") { (piece) throws(ObservationError) in
            try code.read(piece)
            return true
        }
        return code.changed
    }

    /// By process_vm_readv(2): an address that is not mapped is an error.
    public func bytes(at address: UInt64, count: Int) throws(ObservationError) -> [UInt8] {
        let wanted = min(max(count, 0), ObservationLimits.memoryBytes)
        let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
            filled = max(0, Int(probe_memory(address, buffer.baseAddress, wanted)))
        }
        guard bytes.count == count else { throw ObservationError(.missing, "code") }
        return bytes
    }

    /// By one process_vm_readv(2) for all.
    public func bytes(at addresses: [UInt64], count: Int) throws(ObservationError) -> [[UInt8]] {
        let count = min(max(count, 0), Int(self.pageSize))
        guard addresses.count <= ObservationLimits.places else { throw ObservationError(.tooLarge, "code") }
        let wanted = addresses.count * count
        let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
            filled = addresses.withUnsafeBufferPointer { places in
                max(0, Int(probe_memories(places.baseAddress, places.count, buffer.baseAddress, count)))
            }
        }
        guard bytes.count == wanted else { throw ObservationError(.missing, "code") }
        return addresses.indices.map { Array(bytes[($0 * count)..<(($0 + 1) * count)]) }
    }

    /// The files of executable mappings: an agent that hides from the loader's own list must still be mapped.
    public func loadedImages() throws(ObservationError) -> [String] {
        var images: [String] = []
        for region in try self.regions() where region.hasFile && region.path != images.last {
            images.append(region.path)
        }
        return images
    }

    /// Queries one executable mapping after the other, which is ten times as fast as reading the list of all; reads the
    /// list where the kernel is older than 6.11.
    @inline(__always)
    private func regions() throws(ObservationError) -> [MemoryRegion] {
        let file = probe_open("/proc/self/maps")
        guard file >= 0 else { throw Self.failure(file, "list of mappings") }
        defer { _ = probe_close(file) }
        let name = UnsafeMutableRawBufferPointer.allocate(byteCount: ObservationLimits.pathBytes, alignment: 8)
        defer { name.deallocate() }
        let names = name.baseAddress?.assumingMemoryBound(to: CChar.self)

        var regions: [MemoryRegion] = []
        var mapping = probe_mapping()
        while self.asksQuickly && regions.count < ExecutableRegions.maximum {
            let start = regions.last?.end ?? 0
            let result = probe_next_executable(file, start, &mapping, names, UInt32(name.count))
            if result == -Int(ENOENT) { return regions }
            guard result >= 0 else { break }
            // The size counts the zero at the end.
            let length = max(0, min(Int(mapping.name_size), name.count) - 1)
            regions.append(
                MemoryRegion(
                    start: mapping.start, end: mapping.end, permissions: .init(rawValue: UInt8(mapping.flags & 15)),
                    offset: mapping.offset, inode: mapping.inode, path: String(decoding: name[..<length], as: UTF8.self)
                ))
        }
        var list = ExecutableRegions()
        try self.withPieces(of: "/proc/self/maps") { (piece) throws(ObservationError) in
            try list.read(piece)
            return true
        }
        return list.regions
    }

    /// The number of pages that are not the file's, by the kernel's older interface (`admin-guide/mm/pagemap.rst`),
    /// which copies eight bytes for each page: bit 63 says that it is in memory, 62 that it is swapped out, 61 that it
    /// is a file's.
    ///
    /// - Returns: The negative error where there is one.
    @inline(__always)
    private func changedPages(in range: Range<UInt64>, _ file: Int) -> Int {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 512) { entries in
            var page = range.lowerBound / self.pageSize
            let end = range.upperBound / self.pageSize
            var count = 0
            while page < end {
                let wanted = Int(min(end - page, UInt64(entries.count)))
                let result = probe_read_at(file, entries.baseAddress, wanted * 8, Int64(page) * 8)
                guard result > 0 else { return result }
                for entry in entries[..<(result / 8)] where entry >> 62 != 0 && entry >> 61 & 1 == 0 { count += 1 }
                page += UInt64(max(result / 8, 1))
            }
            return count
        }
    }
}

extension LinuxMachine {
    /// By faccessat(2).
    public func exists(_ path: String) throws(ObservationError) -> Bool {
        let result = probe_exists(path)
        if result >= 0 { return true }
        let failure = Self.failure(result, "file")
        guard failure.code == .missing else { throw failure }
        return false
    }

    /// By readlinkat(2).
    public func linkTarget(of path: String) throws(ObservationError) -> String? {
        let link = self.link(path)
        if link.result > 0 { return link.target }
        if link.result == -Int(EINVAL) { return nil }
        let failure = Self.failure(link.result, "link")
        guard failure.code == .missing else { throw failure }
        return nil
    }

    /// In pieces.
    public func contents(of path: String, atMost limit: Int) throws(ObservationError) -> [UInt8]? {
        do throws(ObservationError) {
            return try self.whole(path, atMost: limit)
        } catch {
            guard error.code == .missing else { throw error }
            return nil
        }
    }

    /// By pread64(2).
    public func bytes(of path: String, at offset: UInt64, count: Int) throws(ObservationError) -> [UInt8] {
        guard let place = Int64(exactly: offset) else { throw ObservationError(.missing, "file") }
        let file = probe_open(path)
        guard file >= 0 else { throw Self.failure(file, "file") }
        defer { _ = probe_close(file) }
        let bytes = [UInt8](unsafeUninitializedCapacity: max(count, 0)) { buffer, filled in
            filled = max(0, Int(probe_read_at(file, buffer.baseAddress, max(count, 0), place)))
        }
        guard !bytes.isEmpty else { throw ObservationError(.missing, "file") }
        return bytes
    }

    /// Linux has no such sandbox.
    public func canWrite(at path: String) throws(ObservationError) -> Bool {
        throw ObservationError(.unsupported, "sandbox")
    }

    /// Linux has no such sandbox.
    public func canFork() throws(ObservationError) -> Bool { throw ObservationError(.unsupported, "sandbox") }

    /// Linux has no such apps.
    public func canOpen(scheme: String) throws(ObservationError) -> Bool {
        throw ObservationError(.unsupported, "schemes")
    }
}
#endif
