// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
internal import CRuntimeProbe
internal import Darwin

extension AppleMachine {
    /// Asks each descriptor of this process for its peer.
    public func peerPorts() throws(Unobservable) -> [UInt16] {
        (0..<ObservationLimits.descriptors).compactMap { number in
            let port = probe_peer_port(number)
            return port > 0 ? UInt16(exactly: port) : nil
        }
    }

    /// With a socket that does not block.
    public func answer(
        onLoopbackPort port: UInt16, to request: [UInt8], atMost limit: Int, milliseconds: Int
    ) throws(Unobservable) -> [UInt8]? {
        let file = probe_connect(port)
        guard file != -Int(ECONNREFUSED) else { return nil }
        guard file >= 0 else { throw Self.failure(file, "port") }
        defer { _ = probe_close(file) }
        guard probe_wait(file, 4, milliseconds) & 4 != 0 else { throw Unobservable(.late, "port") }
        let sent = request.withUnsafeBytes { probe_send(file, $0.baseAddress, $0.count) }
        guard sent == request.count else {
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
