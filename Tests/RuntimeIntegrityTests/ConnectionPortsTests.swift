// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RuntimeIntegrity

@Suite("The ports at the other ends of connections")
struct ConnectionPortsTests {
    @Test(
        "leave out a stranger who connects from a tool's port, whichever socket is seen first",
        arguments: [true, false])
    func leaveOutAStrangerWhoConnectsFromAToolsPortWhicheverSocketIsSeenFirst(listenerFirst: Bool) {
        var ports = ConnectionPorts()
        if listenerFirst { ports.add(own: 8_443, peer: nil, listens: true) }
        ports.add(own: 8_443, peer: 27_042, listens: false)
        ports.add(own: 50_000, peer: 443, listens: false)
        if !listenerFirst { ports.add(own: 8_443, peer: nil, listens: true) }
        #expect(ports.peers == [443])
    }

    @Test("have an agent that this process is connected to, whatever else listens")
    func haveAnAgentThatThisProcessIsConnectedToWhateverElseListens() {
        var ports = ConnectionPorts()
        ports.add(own: 8_443, peer: nil, listens: true)
        // On its way to a server, and not there yet.
        ports.add(own: 50_001, peer: nil, listens: false)
        ports.add(own: 50_000, peer: 27_042, listens: false)
        // The system did not say which port this end has.
        ports.add(own: 0, peer: 27_052, listens: false)
        #expect(ports.peers == [27_042, 27_052])
    }
}
