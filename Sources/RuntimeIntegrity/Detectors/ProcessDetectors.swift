// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Looks at the status of this process: its tracer, and the number of its threads.
public struct StatusDetector: TamperDetector {
    /// `status`.
    public let name = "status"
    /// Before each connection.
    public let cost = DetectorCost.connection

    private let declared: DeclaredBehaviour

    /// Creates the detector.
    public init(_ declared: DeclaredBehaviour = DeclaredBehaviour()) { self.declared = declared }

    /// Looks at the status.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(ObservationError) in
            let status = try machine.status()
            if status.tracer != 0, !self.declared.tracers.contains(status.tracer) {
                signals.append(.init(.debuggerAttached, .high, "another process traces this one"))
            }
            if let maximum = self.declared.maximumThreads, let threads = status.threads, threads > maximum {
                signals.append(.init(.unknownThreads, .low, "\(threads) threads; declared are \(maximum)"))
            }
        }
    }
}

/// Looks at the parent of this process.
public struct ParentDetector: TamperDetector {
    /// `parent`.
    public let name = "parent"
    /// Occasional: at start and at random times.
    public let cost = DetectorCost.occasional

    /// Creates the detector.
    public init() {}

    /// Looks at the parent's name. A script that starts programs under Frida is called `python`, and not noticed here.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(ObservationError) in
            guard let parent = try machine.parentName(), AgentNames.parents.contains(parent) else { return }
            signals.append(.init(.debuggerParent, .medium, "the process was started by \(parent)"))
        }
    }
}

/// Looks at the names of threads.
///
/// Frida 17 and 16 leave their threads the name of the program; this finds other tools, and older ones.
public struct ThreadDetector: TamperDetector {
    /// `threads`.
    public let name = "threads"
    /// Occasional: it takes ten microseconds a thread.
    public let cost = DetectorCost.occasional

    /// Creates the detector.
    public init() {}

    /// Looks at the names of all threads.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(ObservationError) in
            for thread in try machine.threadNames() where AgentNames.threads.isPart(of: thread) {
                signals.append(.init(.agentThread, .high, "a thread is called \(thread)"))
                return
            }
        }
    }
}

/// Looks at the targets of descriptors.
public struct DescriptorDetector: TamperDetector {
    /// `descriptors`.
    public let name = "descriptors"
    /// Occasional: it takes three microseconds a descriptor.
    public let cost = DetectorCost.occasional

    /// Creates the detector.
    public init() {}

    /// Looks at all descriptors.
    ///
    /// Sockets and event descriptors are an agent's traces, too, but every program with a network has them: they are
    /// no signal.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(ObservationError) in
            for descriptor in try machine.descriptors() {
                let name = PrintableEvidence.name(ofPath: descriptor.target)
                guard AgentNames.descriptors.isPart(of: name) else { continue }
                signals.append(.init(.agentDescriptor, .medium, "a descriptor leads to \(name)"))
                return
            }
        }
    }
}

/// Looks at the connections that this process holds: an agent that joined a portal is connected to it.
public struct ConnectionDetector: TamperDetector {
    /// `connections`.
    public let name = "connections"
    /// Before each connection.
    public let cost = DetectorCost.connection

    private let ports: [UInt16]

    /// Creates the detector.
    ///
    /// - Parameter ports: Ports that this process has no reason to be connected to.
    public init(ports: [UInt16] = AgentNames.ports) { self.ports = ports }

    /// Looks at the other end of each connection.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(ObservationError) in
            for port in try machine.peerPorts() where self.ports.contains(port) {
                signals.append(.init(.agentConnection, .medium, "this process is connected to a port \(port)"))
                return
            }
        }
    }
}

/// Asks ports of this machine whether they speak a tool's protocol.
///
/// An open port is no signal; the answer is. Two questions are asked, each on a connection of its own,
/// because Frida changed its protocol: the upgrade to a WebSocket (Frida 15 and newer) and D-Bus authentication (older).
public struct PortDetector: TamperDetector {
    /// `ports`.
    public let name = "ports"
    /// Occasional: a port that does not answer takes time.
    public let cost = DetectorCost.occasional

    /// The upgrade, with the key of RFC 6455's section 1.3.
    static let upgrade = Array(
        """
        GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n
        """.utf8)

    /// A required part of the answer.
    static let switching = NameParts(["101 switching protocols"])

    /// The other required part of the answer by that section, in lower case.
    static let accepted = NameParts(["s3pplmbitxaq9kygzzhzrbk+xoo="])

    /// A zero and the first line of the D-Bus specification's "Authentication Protocol".
    static let authentication = [0] + Array("AUTH\r\n".utf8)

    private let ports: [UInt16]

    /// Creates the detector.
    ///
    /// - Parameter ports: The ports to ask.
    public init(ports: [UInt16] = AgentNames.ports) { self.ports = ports }

    /// Asks each port.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        var answer = DetectorAnswer()
        for port in self.ports {
            let one = DetectorAnswer(of: self.name) { (signals) throws(ObservationError) in
                if try self.isAgent(port, machine) {
                    signals.append(.init(.agentPort, .medium, "port \(port) of this machine answers like a tool's"))
                }
            }
            answer.signals += one.signals
            answer.blindSpots += one.blindSpots
        }
        return answer
    }

    private func isAgent(_ port: UInt16, _ machine: any ObservedMachine) throws(ObservationError) -> Bool {
        guard let upgraded = try self.ask(port, Self.upgrade, machine) else { return false }
        // The port of a web server that has a WebSocket at /ws answers the same: it does not know D-Bus, and it is
        // not at this port.
        if Self.switching.isPart(of: upgraded), Self.accepted.isPart(of: upgraded) { return true }
        guard let authenticated = try self.ask(port, Self.authentication, machine) else { return false }
        return authenticated.hasPrefix("REJECTED")
    }

    /// Asks a port. No answer means another service.
    private func ask(
        _ port: UInt16, _ request: [UInt8], _ machine: any ObservedMachine
    ) throws(ObservationError) -> String? {
        do throws(ObservationError) {
            let answer = try machine.answer(
                onLoopbackPort: port, to: request, atMost: ObservationLimits.answerBytes,
                milliseconds: ObservationLimits.answerMilliseconds)
            return answer.map { String(decoding: $0, as: UTF8.self) }
        } catch {
            guard error.code == .late else { throw error }
            return ""
        }
    }
}
