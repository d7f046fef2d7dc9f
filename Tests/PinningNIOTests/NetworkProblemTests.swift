// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import NIOCore
import NIOPosix
import Testing

@testable @_spi(Tools) import PinningNIO

@Suite("The words for a failed connection")
struct NetworkProblemTests {
    /// Answers that a name has these addresses.
    private struct FixedResolver: Resolver, Sendable {
        let addresses: [String]
        let loop: any EventLoop

        func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
            self.loop.makeCompletedFuture {
                try self.addresses.map { try SocketAddress(ipAddress: $0, port: port) }
            }
        }

        func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
            self.loop.makeSucceededFuture([])
        }

        func cancelQueries() {}
    }

    /// The words for a connection to a name with addresses at a port on which nothing listens.
    private func words(_ addresses: String...) async -> String {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let bootstrap = ClientBootstrap(group: loop).resolver(FixedResolver(addresses: addresses, loop: loop))
        do {
            try await bootstrap.connect(host: "api.example.com", port: 1).get().close().get()
            return "connected"
        } catch {
            return NetworkProblem(error, NetworkProblem.Limits(connect: .ample, answer: .ample)).description
        }
    }

    @Test("a refused connection may have met a firewall, and that is said with the place")
    func aRefusedConnectionMayHaveMetAFirewall() async {
        let refused =
            "the connection was refused: nothing listens on api.example.com:1, or a firewall rejects it"
        #expect(await self.words("127.0.0.1") == refused)
        #expect(await self.words("127.0.0.1", "127.0.0.2") == refused)
    }

    @Test("a request that met a connection which new rules refuse has not arrived, and that is said")
    func requestThatMetAConnectionWhichNewRulesRefuseHasNotArrivedAndThatIsSaid() {
        let limits = NetworkProblem.Limits(connect: .ample, answer: .ample)
        let problem = NetworkProblem(ConnectionRetiredError(), limits)
        #expect(!problem.mayHaveArrived && problem.description.contains("not a byte of it was sent"))
        #expect(NetworkProblem.known(ConnectionRetiredError()) == problem)
    }

    @Test("of several addresses that fail in several ways each way is said, in both orders")
    func ofSeveralAddressesThatFailInSeveralWaysEachIsSaid() async {
        // No system routes TCP to a multicast group.
        for addresses in [["127.0.0.1", "224.0.0.1"], ["224.0.0.1", "127.0.0.1"]] {
            let words = await self.words(addresses[0], addresses[1])
            #expect(words.hasPrefix("no address of api.example.com:1 could be reached: "), "\(words)")
            #expect(words.contains("the connection was refused"), "\(words)")
            #expect(words.contains("no route to the address"), "\(words)")
        }
    }
}
#endif
