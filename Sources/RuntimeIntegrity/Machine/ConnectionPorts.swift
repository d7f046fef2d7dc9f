// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The ports at the other ends of a process's connections, without those that came in.
///
/// A connection at a port on which the process listens came in: its other end has the port that a stranger chose.
struct ConnectionPorts {
    private var connections: [(own: UInt16, peer: UInt16)] = []
    private var listening: Set<UInt16> = []

    /// None.
    @inline(__always)
    init() {}

    /// Notes a socket.
    ///
    /// - Parameters:
    ///   - own: The port of this end; 0 where it is not known.
    ///   - peer: The port of the other end; `nil` without one.
    ///   - listens: Whether others can connect to it.
    @inline(__always)
    mutating func add(own: UInt16, peer: UInt16?, listens: Bool) {
        if listens { self.listening.insert(own) }
        if let peer { self.connections.append((own, peer)) }
    }

    /// The ports at the other ends.
    @inline(__always)
    var peers: [UInt16] { self.connections.filter { !self.listening.contains($0.own) }.map(\.peer) }
}
