// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import Testing

@testable import PinningNIO

@Suite("What a process knows of the chains of servers")
struct KnownChainsTests {
    private func server(_ port: Int) throws -> KnownChains.Key {
        KnownChains.Key(roots: [1], host: try HostName("api.example.com"), port: port, place: "127.0.0.1")
    }

    @Test("a server in use is not asked again because others came: of too many, the least recently used one leaves")
    func aServerInUseIsNotAskedAgainBecauseOthersCameOfTooManyTheLeastRecentlyUsedOneLeaves() throws {
        let known = KnownChains()
        for port in 1...KnownChains.capacity { known.remember([[UInt8(port % 251)]], of: try self.server(port)) }
        #expect(known.intermediates(of: try self.server(1)) == [[1]])
        known.remember([[0]], of: try self.server(KnownChains.capacity + 1))
        #expect(known.intermediates(of: try self.server(1)) == [[1]])
        #expect(known.intermediates(of: try self.server(2)) == nil)
        let left = try (1...KnownChains.capacity + 1).filter { known.intermediates(of: try self.server($0)) != nil }
        #expect(left.count == KnownChains.capacity)
    }

    @Test("newer intermediates come first, the older ones stay, and who cannot be asked is forgotten")
    func newerIntermediatesComeFirstTheOlderOnesStayAndWhoCannotBeAskedIsForgotten() throws {
        let known = KnownChains()
        let server = try self.server(443)
        known.remember([[1], [2]], of: server)
        known.remember([[3], [2]], of: server)
        #expect(known.intermediates(of: server) == [[3], [2], [1]])
        known.forget(server)
        #expect(known.intermediates(of: server) == nil)
    }
}
#endif
