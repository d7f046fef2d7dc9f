// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
/// A client, a server, and the router between them, each in a network of its own. The attacker has the router.
struct InterceptedWire {
    /// The server's address, as the client knows it.
    static let serverAddress = "198.51.100.1"

    let client: NetworkNamespace
    let router: NetworkNamespace
    let server: NetworkNamespace

    /// Lays the wires while something is done with them. The router only forwards.
    static func with<Result>(_ body: (InterceptedWire) async throws -> Result) async throws -> Result {
        try await NetworkNamespace.with(count: 3) { networks in
            let wire = InterceptedWire(client: networks[0], router: networks[1], server: networks[2])
            try await wire.client.run("ip link add out type veth peer name in netns \(wire.router.path)")
            try await wire.router.run(
                """
                ip link add out type veth peer name in netns \(wire.server.path)
                ip link set lo up
                ip address add 192.0.2.2/24 dev in
                ip address add 198.51.100.2/24 dev out
                ip link set in up
                ip link set out up
                echo 1 > /proc/sys/net/ipv4/ip_forward
                """)
            try await wire.client.run(
                """
                ip address add 192.0.2.1/24 dev out
                ip link set out up
                ip route add default via 192.0.2.2
                """)
            try await wire.server.run(
                """
                ip address add \(Self.serverAddress)/24 dev in
                ip link set in up
                ip route add default via 198.51.100.2
                """)
            return try await body(wire)
        }
    }

    /// From now on the router hands all new connections of the client to a port of its own.
    func intercept(on port: Int) async throws {
        try await self.router.run("iptables -w -t nat -A PREROUTING -i in -p tcp -j REDIRECT --to-ports \(port)")
    }
}
#endif
