// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import RuntimeIntegrity

/// This process, but for bytes that seem to be others: what a hook would have written there.
struct AlteredMachine: ObservedMachine {
    /// What stands where.
    var bytes: [UInt64: UInt8] = [:]
    /// The beginning of the names of files that are no longer mapped.
    var unloaded: String?
    /// The beginning of the names of files that were replaced or removed, and the path that they now have.
    var renamed: (beginning: String, path: String)?
    private let real = LinuxMachine()

    /// Writes bytes from an address on.
    mutating func write(_ new: [UInt8], at address: UInt64) {
        for (index, byte) in new.enumerated() { self.bytes[address + UInt64(index)] = byte }
    }

    func bytes(at address: UInt64, count: Int) throws(ObservationError) -> [UInt8] {
        var read = try self.real.bytes(at: address, count: count)
        for (place, byte) in self.bytes where place >= address && place - address < UInt64(count) {
            read[Int(place - address)] = byte
        }
        return read
    }

    func executableRegions() throws(ObservationError) -> [MemoryRegion] {
        let regions = try self.real.executableRegions().map { region in
            guard let path = self.newPath(of: region.path) else { return region }
            return MemoryRegion(
                start: region.start, end: region.end, permissions: region.permissions, offset: region.offset,
                inode: region.inode, path: path)
        }
        guard let unloaded = self.unloaded else { return regions }
        return regions.filter { !PrintableEvidence.name(ofPath: $0.path).hasPrefix(unloaded) }
    }

    func changedPages(_ scope: PageScope) throws(ObservationError) -> [ChangedPages] {
        try self.real.changedPages(scope)
    }
    func copiedCode() throws(ObservationError) -> [ChangedPages] { try self.real.copiedCode() }
    func loadedImages() throws(ObservationError) -> [String] { try self.real.loadedImages() }
    func status() throws(ObservationError) -> ProcessStatus { try self.real.status() }
    func threadNames() throws(ObservationError) -> [String] { try self.real.threadNames() }
    func descriptors() throws(ObservationError) -> [OpenDescriptor] { try self.real.descriptors() }
    func environment() throws(ObservationError) -> [EnvironmentVariable] { try self.real.environment() }
    func parentName() throws(ObservationError) -> String? { try self.real.parentName() }
    func peerPorts() throws(ObservationError) -> [UInt16] { try self.real.peerPorts() }
    func exists(_ path: String) throws(ObservationError) -> Bool { try self.real.exists(path) }
    func linkTarget(of path: String) throws(ObservationError) -> String? {
        guard let target = try self.real.linkTarget(of: path) else { return nil }
        return self.newPath(of: target) ?? target
    }

    private func newPath(of path: String) -> String? {
        guard let renamed = self.renamed, PrintableEvidence.name(ofPath: path).hasPrefix(renamed.beginning) else {
            return nil
        }
        return renamed.path
    }

    func canWrite(at path: String) throws(ObservationError) -> Bool { try self.real.canWrite(at: path) }
    func canFork() throws(ObservationError) -> Bool { try self.real.canFork() }
    func canOpen(scheme: String) throws(ObservationError) -> Bool { try self.real.canOpen(scheme: scheme) }

    func answer(
        onLoopbackPort port: UInt16, to request: [UInt8], atMost limit: Int, milliseconds: Int
    ) throws(ObservationError) -> [UInt8]? {
        try self.real.answer(onLoopbackPort: port, to: request, atMost: limit, milliseconds: milliseconds)
    }

    func contents(of path: String, atMost limit: Int) throws(ObservationError) -> [UInt8]? {
        try self.real.contents(of: path, atMost: limit)
    }

    func bytes(of path: String, at offset: UInt64, count: Int) throws(ObservationError) -> [UInt8] {
        try self.real.bytes(of: path, at: offset, count: count)
    }
}
#endif
