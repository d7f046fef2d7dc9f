// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import NIOCore
import PinListClient
import PinningNIO
import Testing

@Suite("A request that waits for a verdict, and the memory of this process")
struct HeldRequestThisProcessTests {
    /// The most that the process may grow by, in KiB.
    static let maximumKilobytes = 65_536

    @Test(
        "1 GiB that is streamed to a server whose path is stalled keeps the process under 64 MiB above its start",
        .enabled(if: ProcessResources.areKnown, "this system has no /proc"), arguments: [false, true])
    func of1GiBThatIsStreamedToAServerWhosePathIsStalledKeepsTheProcessUnder64MiBAbove(http2: Bool) async throws {
        try await HeldConnection.with(http2: http2) { scene, client, server, relay in
            // Each part has memory of its own, all of it written to.
            let parts = CountedParts(count: 16_384) {
                ByteBuffer(repeating: UInt8(truncatingIfNeeded: $0), count: 65_536)
            }
            let request = HeldConnection.upload(parts, to: relay.port, bytes: 1 << 30)
            let before = try ProcessResources().residentKilobytes
            let answer = Task { try await client.execute(request, timeout: .ample) }
            await relay.untilHeld(1)
            await HeldConnection.letOthersRun()
            let after = try ProcessResources().residentKilobytes
            #expect(before > 0 && after - before < Self.maximumKilobytes, "\(before) KiB before, \(after) KiB after")
            relay.answerHeld(.failure(ChannelError.eof))
            await #expect(throws: PinningError.self) { try await answer.value }
        }
    }
}
#endif
