// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import Foundation
import NIOCore
import NIOPosix
import Testing

/// A network of its own, with nothing in it: that of one event loop, whose thread has left the machine's. It is gone
/// when the event loop is, with any end of the test.
struct NetworkNamespace: Sendable {
    /// The network could not be made.
    struct Refused: Error {}

    private static let nsenter = InstalledProgram("nsenter")

    /// Whether the test may make networks, and has the programs to furnish them.
    static var isPossible: Bool {
        // CAP_NET_ADMIN and CAP_SYS_ADMIN, by their numbers in linux/capability.h.
        let needed: UInt64 = 1 << 12 | 1 << 21
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") }
        let held = line.flatMap { UInt64($0.dropFirst("CapEff:".count).drop { $0 == "\t" }, radix: 16) } ?? 0
        return held & needed == needed
    }

    /// Whether the programs to furnish networks are there.
    static var isEquipped: Bool {
        self.nsenter != nil && InstalledProgram("ip") != nil && InstalledProgram("iptables") != nil
    }

    /// The event loop: its sockets are in this network.
    let group: MultiThreadedEventLoopGroup
    /// The file that stands for the network.
    let path: String

    /// Makes networks while something is done with them.
    static func with<Result>(
        count: Int, _ body: ([NetworkNamespace]) async throws -> Result
    ) async throws -> Result {
        var made: [NetworkNamespace] = []
        do {
            for _ in 0..<count { made.append(try await NetworkNamespace()) }
            let result = try await body(made)
            for network in made { try await network.group.shutdownGracefully() }
            return result
        } catch {
            for network in made { try? await network.group.shutdownGracefully() }
            throw error
        }
    }

    private init() async throws {
        self.group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            self.path = try await self.group.next().submit { try Self.leaveNetwork() }.get()
        } catch {
            try? await self.group.shutdownGracefully()
            throw error
        }
    }

    /// Gives this thread a network of its own.
    ///
    /// - Returns: The file that stands for it.
    private static func leaveNetwork() throws -> String {
        // The C library's header shows it to GNU programs only.
        guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "unshare") else { throw Refused() }
        let unshare = unsafeBitCast(symbol, to: (@convention(c) (CInt) -> CInt).self)
        let newNetwork: CInt = 0x4000_0000
        guard unshare(newNetwork) == 0 else { throw Refused() }
        return "/proc/\(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self"))/ns/net"
    }

    /// The program and arguments that run something in this network.
    func command(_ program: InstalledProgram, _ arguments: [String]) throws -> (InstalledProgram, [String]) {
        (try #require(Self.nsenter), ["--net=\(self.path)", program.executable.path] + arguments)
    }

    /// Runs commands of a shell in this network; the first that fails is the last.
    func run(_ script: String) async throws {
        let shell = try #require(InstalledProgram("sh"))
        let (program, arguments) = try self.command(
            shell, ["-ec", "PATH=$PATH:/usr/sbin:/sbin\n" + script])
        try await program.run(arguments)
    }
}
#endif
