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
    /// Asks each descriptor of this process for its peer. `/proc/self/net/tcp` would list all sockets of the machine.
    public func peerPorts() throws(Unobservable) -> [UInt16] {
        var ports: [UInt16] = []
        var left = ObservationLimits.descriptors
        try self.names(in: "/proc/self/fd") { (name) throws(Unobservable) in
            left -= 1
            guard left >= 0 else { throw Unobservable(.tooLarge, "connections") }
            guard let number = Int(String(cString: name)) else { return }
            let port = probe_peer_port(number)
            if port > 0, let port = UInt16(exactly: port) { ports.append(port) }
        }
        return ports
    }

    /// With a socket that does not block, and at most three waits.
    public func answer(
        onLoopbackPort port: UInt16, to request: [UInt8], atMost limit: Int, milliseconds: Int
    ) throws(Unobservable) -> [UInt8]? {
        let file = probe_connect(port)
        // A container without a network has no ports that answer.
        guard file != -Int(ECONNREFUSED), file != -Int(ENETUNREACH) else { return nil }
        guard file >= 0 else { throw Self.failure(file, "port") }
        defer { _ = probe_close(file) }
        guard probe_wait(file, 4, milliseconds) & 4 != 0 else { throw Unobservable(.late, "port") }
        let sent = request.withUnsafeBytes { probe_send(file, $0.baseAddress, $0.count) }
        guard sent == request.count else {
            // A socket whose connection was refused says so now.
            if sent == -Int(ECONNREFUSED) { return nil }
            throw Self.failure(sent, "port")
        }
        guard probe_wait(file, 1, milliseconds) & 1 != 0 else { throw Unobservable(.late, "port") }
        return [UInt8](unsafeUninitializedCapacity: limit) { buffer, filled in
            filled = max(0, Int(probe_read(file, buffer.baseAddress, limit)))
        }
    }
}
#endif
