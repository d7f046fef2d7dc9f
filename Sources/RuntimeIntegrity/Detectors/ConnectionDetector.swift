// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Looks at the connections that this process holds: an agent that joined a portal is connected to it.
public struct ConnectionDetector: TamperDetector {
    /// `connections`.
    public let name = "connections"
    /// Each connection.
    public let cost = DetectorCost.connection

    private let ports: [UInt16]

    /// Creates the detector.
    ///
    /// - Parameter ports: Ports that this process has no reason to be connected to.
    public init(ports: [UInt16] = AgentNames.ports) { self.ports = ports }

    /// Looks at the other end of each connection.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(Unobservable) in
            for port in try machine.peerPorts() where self.ports.contains(port) {
                signals.append(.init(.agentConnection, .medium, "this process is connected to a port \(port)"))
                return
            }
        }
    }
}
