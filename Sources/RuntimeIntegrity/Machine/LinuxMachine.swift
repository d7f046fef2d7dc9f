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

/// This process on Linux, seen through `/proc`, by system calls of our own.
///
/// No two of its methods share a function that could be hooked: common code is inlined into each.
public struct LinuxMachine: ObservedMachine {
    /// The length of a page in bytes.
    let pageSize: UInt64

    /// Whether the kernel's fast queries for mappings (Linux 6.11) and pages (6.7) are used.
    let asksQuickly: Bool

    /// Creates the machine without looking at it.
    public init() { self.init(asksQuickly: true) }

    /// Creates a machine that behaves as on an older kernel.
    init(asksQuickly: Bool) {
        self.asksQuickly = asksQuickly
        self.pageSize = UInt64(max(getpagesize(), 1))
    }

    /// The reason of a failed call.
    @inline(__always)
    static func failure(_ result: Int, _ subject: String) -> ObservationError {
        switch Int32(truncatingIfNeeded: -result) {
        case ENOENT, ENOTDIR, ESRCH: ObservationError(.missing, subject)
        case EACCES, EPERM: ObservationError(.refused, subject)
        default: ObservationError(.unsupported, subject)
        }
    }

    /// Reads a file of the system in pieces, until it ends or `body` stops.
    @inline(__always)
    func withPieces(
        of path: String, _ body: (UnsafeRawBufferPointer) throws(ObservationError) -> Bool
    ) throws(ObservationError) {
        let file = probe_open(path)
        guard file >= 0 else { throw Self.failure(file, path) }
        defer { _ = probe_close(file) }
        // The kernel returns at most a page of these files at a time.
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 8_192, alignment: 8)
        defer { piece.deallocate() }
        while true {
            let count = probe_read(file, piece.baseAddress, piece.count)
            guard count != -Int(EINTR) else { continue }
            guard count >= 0 else { throw Self.failure(count, path) }
            guard count > 0, try body(UnsafeRawBufferPointer(rebasing: piece[..<count])) else { return }
        }
    }

    /// Reads a whole file of the system.
    @inline(__always)
    func whole(_ path: String, atMost limit: Int) throws(ObservationError) -> [UInt8] {
        var bytes: [UInt8] = []
        try self.withPieces(of: path) { (piece) throws(ObservationError) in
            guard bytes.count + piece.count <= limit else { throw ObservationError(.tooLarge, path) }
            bytes.append(contentsOf: piece)
            return true
        }
        return bytes
    }

    /// The names in a folder, but for those of itself and its parent.
    @inline(__always)
    func names(in folder: String, _ body: (UnsafePointer<CChar>) throws(ObservationError) -> Void)
        throws(ObservationError)
    {
        let file = probe_open_folder(folder)
        guard file >= 0 else { throw Self.failure(file, folder) }
        defer { _ = probe_close(file) }
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 8_192, alignment: 8)
        defer { piece.deallocate() }
        while true {
            let count = probe_entries(file, piece.baseAddress, piece.count)
            guard count >= 0 else { throw Self.failure(count, folder) }
            guard count > 0 else { return }
            var position = 0
            // 19 bytes stand before the name; the kernel ends it with a zero.
            while position + 19 < count {
                let length = Int(piece.loadUnaligned(fromByteOffset: position + 16, as: UInt16.self))
                guard length > 19, position + length <= count else { return }
                if piece[position + 19] != 0x2E, let base = piece.baseAddress {
                    try body((base + position + 19).assumingMemoryBound(to: CChar.self))
                }
                position += length
            }
        }
    }

    /// The target of a link.
    @inline(__always)
    func link(_ path: String) -> (result: Int, target: String) {
        withUnsafeTemporaryAllocation(byteCount: ObservationLimits.pathBytes, alignment: 1) { bytes in
            let count = probe_link(
                path, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
            guard count > 0 else { return (count, "") }
            return (count, String(decoding: bytes[..<count], as: UTF8.self))
        }
    }
}

extension LinuxMachine {
    /// From `/proc/self/status`.
    public func status() throws(ObservationError) -> ProcessStatus {
        try ProcessStatus(parsing: self.whole("/proc/self/status", atMost: ObservationLimits.statusBytes))
    }

    /// From `/proc/self/task/*/comm`.
    public func threadNames() throws(ObservationError) -> [String] {
        var names: [String] = []
        try self.names(in: "/proc/self/task") { (id) throws(ObservationError) in
            guard names.count < ObservationLimits.threads else { throw ObservationError(.tooLarge, "names of threads") }
            let file = probe_open("/proc/self/task/\(String(cString: id))/comm")
            // A thread may have ended since.
            guard file >= 0 else { return }
            defer { _ = probe_close(file) }
            // TASK_COMM_LEN: 15 bytes and a newline.
            withUnsafeTemporaryAllocation(byteCount: 16, alignment: 1) { bytes in
                let count = probe_read(file, bytes.baseAddress, bytes.count)
                guard count > 0 else { return }
                names.append(String(decoding: bytes[..<count].prefix { $0 != 0x0A }, as: UTF8.self))
            }
        }
        return names
    }

    /// From `/proc/self/fd`.
    public func descriptors() throws(ObservationError) -> [OpenDescriptor] {
        var descriptors: [OpenDescriptor] = []
        try self.names(in: "/proc/self/fd") { (name) throws(ObservationError) in
            guard descriptors.count < ObservationLimits.descriptors else {
                throw ObservationError(.tooLarge, "descriptors")
            }
            let number = String(cString: name)
            let link = self.link("/proc/self/fd/\(number)")
            guard link.result > 0, let value = Int32(number) else { return }
            descriptors.append(OpenDescriptor(number: value, target: link.target))
        }
        return descriptors
    }

    /// From `/proc/self/environ`: as it was at the start.
    public func environment() throws(ObservationError) -> [EnvironmentVariable] {
        EnvironmentVariable.parse(
            try self.whole("/proc/self/environ", atMost: ObservationLimits.environmentBytes))
    }

    /// From `/proc/PARENT/comm`. A parent in another namespace has the number 0 and no name.
    public func parentName() throws(ObservationError) -> String? {
        let parent = probe_parent_id()
        guard parent > 0 else { return nil }
        let name = try self.whole("/proc/\(parent)/comm", atMost: 64)
        return String(decoding: name.prefix { $0 != 0x0A }, as: UTF8.self)
    }
}

extension LinuxMachine {
    /// Asks each descriptor of this process for its peer. `/proc/self/net/tcp` would list all sockets of the machine.
    /// Connections that came in are left out.
    public func peerPorts() throws(ObservationError) -> [UInt16] {
        var ports = ConnectionPorts()
        var left = ObservationLimits.descriptors
        try self.names(in: "/proc/self/fd") { (name) throws(ObservationError) in
            left -= 1
            guard left >= 0 else { throw ObservationError(.tooLarge, "connections") }
            guard let number = Int(String(cString: name)) else { return }
            let peer = probe_peer_port(number)
            guard peer > 0 || peer == -Int(ENOTCONN) else { return }
            var listens: Int32 = 0
            let own = UInt16(exactly: probe_own_port(number, &listens)) ?? 0
            ports.add(own: own, peer: peer > 0 ? UInt16(exactly: peer) : nil, listens: listens != 0)
        }
        return ports.peers
    }

    /// With a socket that does not block, and at most three waits.
    public func answer(
        onLoopbackPort port: UInt16, to request: [UInt8], atMost limit: Int, milliseconds: Int
    ) throws(ObservationError) -> [UInt8]? {
        let file = probe_connect(port)
        // A container without a network has no ports that answer.
        guard file != -Int(ECONNREFUSED), file != -Int(ENETUNREACH) else { return nil }
        guard file >= 0 else { throw Self.failure(file, "port") }
        defer { _ = probe_close(file) }
        guard probe_wait(file, 4, milliseconds) & 4 != 0 else { throw ObservationError(.late, "port") }
        let sent = request.withUnsafeBytes { probe_send(file, $0.baseAddress, $0.count) }
        guard sent == request.count else {
            // A socket whose connection was refused says so now.
            if sent == -Int(ECONNREFUSED) { return nil }
            throw Self.failure(sent, "port")
        }
        guard probe_wait(file, 1, milliseconds) & 1 != 0 else { throw ObservationError(.late, "port") }
        return [UInt8](unsafeUninitializedCapacity: limit) { buffer, filled in
            filled = max(0, Int(probe_read(file, buffer.baseAddress, limit)))
        }
    }
}
#endif
