// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
internal import CRuntimeProbe
internal import Darwin
internal import Foundation

/// This process on Apple's systems, seen through libc and Mach.
///
/// Apps may not make system calls of their own there, so that a hook of libc's functions can lie to some of these
/// methods; the regions of memory come from another part of the system than files, ports and the list of images do.
/// Written from Apple's documentation, and not yet compiled or run on an Apple system.
public struct AppleMachine: ObservedMachine {
    /// Asks whether an app is installed that opens a scheme: `UIApplication.canOpenURL`, which only apps have.
    let opens: (@Sendable (String) -> Bool)?

    /// Creates the machine without looking at it.
    ///
    /// - Parameter opens: Whether an app is installed that opens a scheme; `nil` for not knowing.
    public init(opens: (@Sendable (String) -> Bool)? = nil) { self.opens = opens }

    /// The reason of a failed call.
    @inline(__always)
    static func failure(_ result: Int, _ subject: String) -> ObservationError {
        switch Int32(truncatingIfNeeded: -result) {
        case ENOENT, ENOTDIR, ESRCH, EFAULT: ObservationError(.missing, subject)
        case EACCES, EPERM: ObservationError(.refused, subject)
        default: ObservationError(.unsupported, subject)
        }
    }
}

extension AppleMachine {
    /// `P_TRACED`, and the number of threads. The tracer is not known.
    public func status() throws(ObservationError) -> ProcessStatus {
        let traced = probe_traced()
        guard traced >= 0 else { throw Self.failure(traced, "status") }
        let threads = probe_threads(nil, 0)
        return ProcessStatus(tracer: traced == 1 ? -1 : 0, threads: threads > 0 ? threads : nil)
    }

    /// The names of the threads.
    public func threadNames() throws(ObservationError) -> [String] {
        var bytes = [UInt8](repeating: 0, count: 64 * ObservationLimits.threads)
        let count = bytes.withUnsafeMutableBytes { buffer in
            probe_threads(buffer.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.count)
        }
        guard count >= 0 else { throw Self.failure(count, "names of threads") }
        guard count <= ObservationLimits.threads else { throw ObservationError(.tooLarge, "names of threads") }
        return bytes.split(separator: 0, omittingEmptySubsequences: false).prefix(count).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// By `F_GETPATH`, which knows files only.
    public func descriptors() throws(ObservationError) -> [OpenDescriptor] {
        var path = [CChar](repeating: 0, count: 1_024)
        var descriptors: [OpenDescriptor] = []
        for number in 0..<ObservationLimits.descriptors {
            let length = probe_descriptor_path(number, &path)
            guard length > 0 else { continue }
            let target = String(decoding: path[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            descriptors.append(OpenDescriptor(number: Int32(number), target: target))
        }
        return descriptors
    }

    /// The environment now; the system does not keep that of the start.
    public func environment() throws(ObservationError) -> [EnvironmentVariable] {
        guard let entries = probe_environment() else { throw ObservationError(.missing, "environment") }
        var bytes: [UInt8] = []
        var index = 0
        while let entry = entries[index], bytes.count < ObservationLimits.environmentBytes {
            bytes += String(cString: entry).utf8
            bytes.append(0)
            index += 1
        }
        return EnvironmentVariable.parse(bytes)
    }

    /// By `sysctl`; the sandbox of phones hides it.
    public func parentName() throws(ObservationError) -> String? {
        var name = [CChar](repeating: 0, count: 17)
        let length = probe_parent(&name, 16)
        guard length > 0 else { throw Self.failure(length, "parent") }
        return String(decoding: name[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension AppleMachine {
    /// Asks each descriptor of this process for its peer. Connections that came in are left out.
    public func peerPorts() throws(ObservationError) -> [UInt16] {
        var ports = ConnectionPorts()
        for number in 0..<ObservationLimits.descriptors {
            let peer = probe_peer_port(number)
            guard peer > 0 || peer == -Int(ENOTCONN) else { continue }
            var listens: Int32 = 0
            let own = UInt16(exactly: probe_own_port(number, &listens)) ?? 0
            ports.add(own: own, peer: peer > 0 ? UInt16(exactly: peer) : nil, listens: listens != 0)
        }
        return ports.peers
    }

    /// With a socket that does not block.
    public func answer(
        onLoopbackPort port: UInt16, to request: [UInt8], atMost limit: Int, milliseconds: Int
    ) throws(ObservationError) -> [UInt8]? {
        let file = probe_connect(port)
        guard file != -Int(ECONNREFUSED) else { return nil }
        guard file >= 0 else { throw Self.failure(file, "port") }
        defer { _ = probe_close(file) }
        guard probe_wait(file, 4, milliseconds) & 4 != 0 else { throw ObservationError(.late, "port") }
        let sent = request.withUnsafeBytes { probe_send(file, $0.baseAddress, $0.count) }
        guard sent == request.count else {
            if sent == -Int(ECONNREFUSED) { return nil }
            throw Self.failure(sent, "port")
        }
        guard probe_wait(file, 1, milliseconds) & 1 != 0 else { throw ObservationError(.late, "port") }
        return [UInt8](unsafeUninitializedCapacity: limit) { buffer, filled in
            filled = max(0, Int(probe_read(file, buffer.baseAddress, limit)))
        }
    }
}

extension AppleMachine {
    /// The first image of dyld's list.
    public func programPath() throws(ObservationError) -> String {
        guard probe_images() > 0, let path = probe_image(0) else { throw ObservationError(.missing, "program") }
        return String(cString: path)
    }

    /// By the main bundle.
    public func bundleIdentifier() throws(ObservationError) -> String {
        guard let identifier = Bundle.main.bundleIdentifier else { throw ObservationError(.missing, "bundle") }
        return identifier
    }

    /// By the main bundle.
    public func receiptPath() throws(ObservationError) -> String {
        guard let path = Bundle.main.appStoreReceiptURL?.path else { throw ObservationError(.missing, "receipt") }
        return path
    }
}
#endif
