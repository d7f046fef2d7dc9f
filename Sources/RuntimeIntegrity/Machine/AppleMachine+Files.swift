// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
internal import CRuntimeProbe
internal import Darwin

extension AppleMachine {
    /// By `access`.
    public func exists(_ path: String) throws(Unobservable) -> Bool {
        let result = probe_exists(path)
        if result >= 0 { return true }
        let failure = Self.failure(result, "file")
        guard failure.code == .missing else { throw failure }
        return false
    }

    /// By `readlink`.
    public func linkTarget(of path: String) throws(Unobservable) -> String? {
        var target = [CChar](repeating: 0, count: ObservationLimits.pathBytes)
        let length = probe_link(path, &target, target.count)
        if length > 0 { return String(decoding: target[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self) }
        if length == -Int(EINVAL) { return nil }
        let failure = Self.failure(length, "link")
        guard failure.code == .missing else { throw failure }
        return nil
    }

    /// In pieces.
    public func contents(of path: String, atMost limit: Int) throws(Unobservable) -> [UInt8]? {
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
            guard bytes.count + count <= limit else { throw Unobservable(.tooLarge, "file") }
            bytes += piece[..<count]
        }
    }

    /// By `pread`.
    public func bytes(of path: String, at offset: UInt64, count: Int) throws(Unobservable) -> [UInt8] {
        guard let place = off_t(exactly: offset) else { throw Unobservable(.missing, "file") }
        let file = probe_open(path)
        guard file >= 0 else { throw Self.failure(file, "file") }
        defer { _ = probe_close(file) }
        let bytes = [UInt8](unsafeUninitializedCapacity: max(count, 0)) { buffer, filled in
            filled = max(0, pread(Int32(file), buffer.baseAddress, max(count, 0), place))
        }
        guard !bytes.isEmpty else { throw Unobservable(.missing, "file") }
        return bytes
    }

    /// Makes a file and removes it.
    public func canWrite(at path: String) throws(Unobservable) -> Bool { probe_can_write(path) == 1 }

    /// Has a child that ends at once; on phones and tablets only.
    public func canFork() throws(Unobservable) -> Bool {
        let result = probe_can_fork()
        guard result >= 0 else { throw Unobservable(.unsupported, "child") }
        return result == 1
    }

    /// By the app's closure.
    public func canOpen(scheme: String) throws(Unobservable) -> Bool {
        guard let opens = self.opens else { throw Unobservable(.unsupported, "schemes") }
        return opens(scheme)
    }
}
#endif
