// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import NIOCore
import NIOPosix

/// A port for a server that cannot be told to take any.
enum FreePort {
    /// A port of loopback that was free a moment ago. The user must check that it still is.
    static func find() async throws -> Int {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = channel.localAddress?.port
        try await channel.close()
        guard let port else { throw ChannelError.unknownLocalAddress }
        return port
    }
}
#endif
