// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import NIOCore
import PinListClient
import PinningNIO
import Testing

@Suite(
    "A network that loses packets, stalls or resets connections",
    .wants(.network),
    .enabled(if: NetworkNamespace.isPossible, "networks cannot be made here: for CAP_NET_ADMIN and CAP_SYS_ADMIN"),
    .enabled(if: NetworkNamespace.isEquipped, "there is no nsenter, ip or iptables"),
    // Each case has networks of its own. One at a time, because the time-outs begin short and are tried four times as
    // long where the machine is busy.
    .serialized)
struct NetworkFaultTests {
    /// What the router does with what it should forward.
    enum Fault: String, CaseIterable {
        case losesAll, losesWhatIsLarge, losesAnswers, resetsTheClient, resetsTheServer

        /// The rule of its firewall.
        var rule: String {
            switch self {
            case .losesAll: "-p tcp -j DROP"
            // Connections are made, and handshakes begin.
            case .losesWhatIsLarge: "-p tcp -m length --length 300:65535 -j DROP"
            case .losesAnswers: "-i out -p tcp -j DROP"
            case .resetsTheClient: "-i in -p tcp -j REJECT --reject-with tcp-reset"
            case .resetsTheServer: "-i out -p tcp -j REJECT --reject-with tcp-reset"
            }
        }
    }

    @Test(
        "ends requests with an error that blames no pin, and does no harm to those after it", arguments: [false, true])
    func endsRequestsWithAnErrorThatBlamesNoPinAndDoesNoHarmToThoseAfterIt(http2: Bool) async throws {
        let pki = try TestPKI([Way.host])
        let scene = try PinnedScene([PinnedScene.entry(Way.host, [pki.leaf.pin])], roots: [])
        try await InterceptedWire.with { wire in
            let address = InterceptedWire.serverAddress
            let identity = try LoopbackServer.Identity(pki.chain)
            try await LoopbackServer.with(identity, http2: http2, at: address, on: wire.server.group) { server in
                let way = Way(
                    address: address, port: server.port, roots: [try pki.root.nio], group: wire.client.group,
                    http2: http2)
                var asked = 0
                func ask(_ client: PinnedHTTPClient, within timeout: TimeAmount) async throws -> String {
                    asked += 1
                    let request = HTTPClientRequest(url: "https://\(Way.host):\(way.port)/")
                    let response = try await client.execute(request, timeout: timeout)
                    return String(buffer: try await response.body.collect(upTo: 1_024))
                }
                // Short, so that what was lost is asked for again soon; longer where this machine needs more.
                try await withTimeouts(from: .milliseconds(300)) { connect in
                    var configuration = way.configuration
                    configuration.timeout.connect = connect
                    func client() throws -> PinnedHTTPClient {
                        try PinnedHTTPClient(by: scene.pinning, configuration: configuration, on: way.group)
                    }
                    func isAnswered(_ client: PinnedHTTPClient, _ fault: Fault) async throws -> Bool {
                        do {
                            let answer = try await ask(client, within: connect * 64)
                            #expect(answer == "hello", "\(fault)")
                            return true
                        } catch let error where !(error is PinningError) {
                            // A time-out, or the error of the last connection, which the fault before ended.
                            return false
                        }
                    }
                    // One with an open connection, and one that has yet to make its first.
                    let known = try client()
                    var isLongEnough = true
                    for fault in Fault.allCases where isLongEnough {
                        isLongEnough = try await isAnswered(known, fault)
                        guard isLongEnough else { break }
                        try await wire.router.run("iptables -w -I FORWARD \(fault.rule)")
                        let new = try client()
                        // What is said on an open connection is small.
                        for client in fault == .losesWhatIsLarge ? [new] : [known, new] {
                            let error = await #expect(throws: (any Error).self, "\(fault)") {
                                try await ask(client, within: .seconds(1))
                            }
                            #expect((error as? PinningError)?.decision.reason != .noMatchingPin, "\(fault)")
                        }
                        // A request may arrive whose answer was lost, even after its client gave it up: never twice.
                        #expect(server.counts.requests <= asked)
                        try await wire.router.run("iptables -w -D FORWARD \(fault.rule)")
                        isLongEnough = try await isAnswered(new, fault)
                        try await new.shutdown()
                    }
                    try await known.shutdown()
                    return isLongEnough
                }
            }
        }
        #expect(scene.pinning.decisionCounts[.noMatchingPin] == nil)
    }
}
#endif
