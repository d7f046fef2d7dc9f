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
    /// By faccessat(2).
    public func exists(_ path: String) throws(Unobservable) -> Bool {
        let result = probe_exists(path)
        if result >= 0 { return true }
        let failure = Self.failure(result, "file")
        guard failure.code == .missing else { throw failure }
        return false
    }

    /// By readlinkat(2).
    public func linkTarget(of path: String) throws(Unobservable) -> String? {
        let link = self.link(path)
        if link.result > 0 { return link.target }
        if link.result == -Int(EINVAL) { return nil }
        let failure = Self.failure(link.result, "link")
        guard failure.code == .missing else { throw failure }
        return nil
    }

    /// In pieces.
    public func contents(of path: String, atMost limit: Int) throws(Unobservable) -> [UInt8]? {
        do throws(Unobservable) {
            return try self.whole(path, atMost: limit)
        } catch {
            guard error.code == .missing else { throw error }
            return nil
        }
    }

    /// By pread64(2).
    public func bytes(of path: String, at offset: UInt64, count: Int) throws(Unobservable) -> [UInt8] {
        guard let place = Int64(exactly: offset) else { throw Unobservable(.missing, "file") }
        let file = probe_open(path)
        guard file >= 0 else { throw Self.failure(file, "file") }
        defer { _ = probe_close(file) }
        let bytes = [UInt8](unsafeUninitializedCapacity: max(count, 0)) { buffer, filled in
            filled = max(0, Int(probe_read_at(file, buffer.baseAddress, max(count, 0), place)))
        }
        guard !bytes.isEmpty else { throw Unobservable(.missing, "file") }
        return bytes
    }

    /// Linux has no such sandbox.
    public func canWrite(at path: String) throws(Unobservable) -> Bool { throw Unobservable(.unsupported, "sandbox") }

    /// Linux has no such sandbox.
    public func canFork() throws(Unobservable) -> Bool { throw Unobservable(.unsupported, "sandbox") }

    /// Linux has no such apps.
    public func canOpen(scheme: String) throws(Unobservable) -> Bool { throw Unobservable(.unsupported, "schemes") }
}
#endif
