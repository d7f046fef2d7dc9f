// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import PinningNIO
import Testing

extension PinnedHTTPClient {
    /// Expects a loopback server's greeting.
    func expectHello(_ url: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let text = try await self.text(url)
        #expect(text == "hello", sourceLocation: sourceLocation)
    }
}
#endif
