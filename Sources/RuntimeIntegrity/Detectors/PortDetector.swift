// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Asks ports of this machine whether they speak a tool's protocol.
///
/// That something listens is no signal: the answer is. Two questions are asked, each on a connection of its own,
/// because Frida changed its protocol: the upgrade to a WebSocket (Frida 15 and newer) and D-Bus authentication (older).
public struct PortDetector: TamperDetector {
    /// `ports`.
    public let name = "ports"
    /// Now and then: a port that does not answer takes its time.
    public let cost = DetectorCost.occasional

    /// The upgrade, with the key of RFC 6455's section 1.3.
    static let upgrade = Array(
        """
        GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n
        """.utf8)

    /// What has to be in the answer.
    static let switching = NameParts(["101 switching protocols"])

    /// What that section says has to be in it, too, in lower case.
    static let accepted = NameParts(["s3pplmbitxaq9kygzzhzrbk+xoo="])

    /// A zero and the first line of the D-Bus specification's "Authentication Protocol".
    static let authentication = [0] + Array("AUTH\r\n".utf8)

    private let ports: [UInt16]

    /// Creates the detector.
    ///
    /// - Parameter ports: The ports that are asked.
    public init(ports: [UInt16] = AgentNames.ports) { self.ports = ports }

    /// Asks each port.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        var answer = DetectorAnswer()
        for port in self.ports {
            let one = DetectorAnswer(of: self.name) { (signals) throws(Unobservable) in
                if try self.isAgent(port, machine) {
                    signals.append(.init(.agentPort, .medium, "port \(port) of this machine answers like a tool's"))
                }
            }
            answer.signals += one.signals
            answer.blindSpots += one.blindSpots
        }
        return answer
    }

    private func isAgent(_ port: UInt16, _ machine: any ObservedMachine) throws(Unobservable) -> Bool {
        guard let upgraded = try self.ask(port, Self.upgrade, machine) else { return false }
        // The port of a web server that has a WebSocket at /ws answers the same: it does not know D-Bus, and it is
        // not at this port.
        if Self.switching.isPart(of: upgraded), Self.accepted.isPart(of: upgraded) { return true }
        guard let authenticated = try self.ask(port, Self.authentication, machine) else { return false }
        return authenticated.hasPrefix("REJECTED")
    }

    /// Asks; silence is an answer, too: that of something else.
    private func ask(
        _ port: UInt16, _ request: [UInt8], _ machine: any ObservedMachine
    ) throws(Unobservable) -> String? {
        do throws(Unobservable) {
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
