// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
internal import CRuntimeProbe
internal import Darwin

extension AppleMachine {
    /// From `vm_region_recurse_64`, with the image that each region begins in.
    public func executableRegions() throws(ObservationError) -> [MemoryRegion] {
        var regions: [MemoryRegion] = []
        try self.withExecutable { (region, path) throws(ObservationError) in
            guard regions.count < ExecutableRegions.maximum else {
                throw ObservationError(.tooLarge, "list of mappings")
            }
            regions.append(
                MemoryRegion(
                    start: region.start, end: region.end, permissions: .init(rawValue: UInt8(region.flags & 7)),
                    offset: region.offset, inode: path.isEmpty || path.hasPrefix("[") ? 0 : 1, path: path))
        }
        return regions
    }

    /// From `vm_region_recurse_64`: pages that were a file's, or shared, and are private now.
    public func changedPages(_ scope: PageScope) throws(ObservationError) -> [ChangedPages] {
        var changed: [ChangedPages] = []
        try self.withExecutable { (region, path) throws(ObservationError) in
            let file = PrintableEvidence.name(ofPath: path)
            let isWanted = scope.names.map { names in names.contains { file.hasPrefix($0) } } ?? true
            guard region.changed > 0, region.has_file != 0, isWanted else { return }
            changed.append(ChangedPages(path: path, count: Int(region.changed)))
        }
        return changed
    }

    /// Always throws, because Apple's systems have no other way.
    public func copiedCode() throws(ObservationError) -> [ChangedPages] {
        throw ObservationError(.unsupported, "state of mappings")
    }

    /// By `vm_read_overwrite`.
    public func bytes(at address: UInt64, count: Int) throws(ObservationError) -> [UInt8] {
        let wanted = min(max(count, 0), ObservationLimits.memoryBytes)
        let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
            filled = max(0, Int(probe_memory(address, buffer.baseAddress, wanted)))
        }
        guard bytes.count == count else { throw ObservationError(.missing, "code") }
        return bytes
    }

    /// From dyld's list.
    public func loadedImages() throws(ObservationError) -> [String] {
        (0..<probe_images()).compactMap { probe_image($0).map { String(cString: $0) } }
    }

    @inline(__always)
    private func withExecutable(
        _ body: (probe_region, String) throws(ObservationError) -> Void
    ) throws(ObservationError) {
        var region = probe_region()
        var address: UInt64 = 0
        while probe_next_region(address, &region) >= 0, region.end > address {
            address = region.end
            guard region.flags & 4 != 0 else { continue }
            // Memory that all processes share is the system's: it has the system's name, unless an image has another.
            let image = probe_image_of(region.start).map { String(cString: $0) }
            try body(region, image ?? (region.is_shared != 0 ? "[shared]" : ""))
        }
    }
}

extension AppleMachine {
    /// By `access`.
    public func exists(_ path: String) throws(ObservationError) -> Bool {
        let result = probe_exists(path)
        if result >= 0 { return true }
        let failure = Self.failure(result, "file")
        guard failure.code == .missing else { throw failure }
        return false
    }

    /// By `readlink`.
    public func linkTarget(of path: String) throws(ObservationError) -> String? {
        var target = [CChar](repeating: 0, count: ObservationLimits.pathBytes)
        let length = probe_link(path, &target, target.count)
        if length > 0 { return String(decoding: target[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self) }
        if length == -Int(EINVAL) { return nil }
        let failure = Self.failure(length, "link")
        guard failure.code == .missing else { throw failure }
        return nil
    }

    /// In pieces.
    public func contents(of path: String, atMost limit: Int) throws(ObservationError) -> [UInt8]? {
        let file = probe_open(path)
        guard file != -Int(ENOENT) else { return nil }
        guard file >= 0 else { throw Self.failure(file, "file") }
        defer { _ = probe_close(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = probe_read(file, &piece, piece.count)
            guard count >= 0 else { throw Self.failure(count, "file") }
            guard count > 0 else { return bytes }
            guard bytes.count + count <= limit else { throw ObservationError(.tooLarge, "file") }
            bytes += piece[..<count]
        }
    }

    /// By `pread`.
    public func bytes(of path: String, at offset: UInt64, count: Int) throws(ObservationError) -> [UInt8] {
        guard let place = off_t(exactly: offset) else { throw ObservationError(.missing, "file") }
        let file = probe_open(path)
        guard file >= 0 else { throw Self.failure(file, "file") }
        defer { _ = probe_close(file) }
        let bytes = [UInt8](unsafeUninitializedCapacity: max(count, 0)) { buffer, filled in
            filled = max(0, pread(Int32(file), buffer.baseAddress, max(count, 0), place))
        }
        guard !bytes.isEmpty else { throw ObservationError(.missing, "file") }
        return bytes
    }

    /// Makes a file and removes it.
    public func canWrite(at path: String) throws(ObservationError) -> Bool { probe_can_write(path) == 1 }

    /// Has a child that ends at once; on phones and tablets only.
    public func canFork() throws(ObservationError) -> Bool {
        let result = probe_can_fork()
        guard result >= 0 else { throw ObservationError(.unsupported, "child") }
        return result == 1
    }

    /// By the app's closure.
    public func canOpen(scheme: String) throws(ObservationError) -> Bool {
        guard let opens = self.opens else { throw ObservationError(.unsupported, "schemes") }
        return opens(scheme)
    }
}
#endif
