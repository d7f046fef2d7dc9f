// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The loopback network of this machine, and this process's connections.
public protocol ObservedNetwork: Sendable {
    /// The ports at the other ends of this process's TCP connections.
    func peerPorts() throws(Unobservable) -> [UInt16]

    /// Connects to a port of 127.0.0.1, says something, and hears the first answer.
    ///
    /// - Parameters:
    ///   - port: The port.
    ///   - request: What is said.
    ///   - limit: The most bytes that are heard.
    ///   - milliseconds: The most time for all of it.
    /// - Returns: The answer; `nil` when nobody listens.
    /// - Throws: ``Unobservable`` when nobody says anything in time.
    func answer(
        onLoopbackPort port: UInt16, to request: [UInt8], atMost limit: Int, milliseconds: Int
    ) throws(Unobservable) -> [UInt8]?
}
