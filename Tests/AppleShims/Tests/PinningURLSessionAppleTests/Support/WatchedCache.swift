// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking

/// A cache that tells when it was emptied.
///
/// `@unchecked Sendable`: because its stream is Sendable, and nothing of it changes.
final class WatchedCache: URLCache, @unchecked Sendable {
    private let emptied = AsyncStream.makeStream(of: Void.self)

    override func removeAllCachedResponses() {
        super.removeAllCachedResponses()
        self.emptied.continuation.yield()
    }

    /// Returns when it was emptied once more.
    func isEmptied() async { for await _ in self.emptied.stream { break } }
}
