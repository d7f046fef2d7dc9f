// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinningURLSession

/// The bank's hosts, through one pinned session.
struct Bank: Sendable {
    /// Shared by the whole app: sessions, web views and the background refresh.
    let pinning: Pinning
    private let session: URLSession

    /// Reads the list that the app ships, or a newer one that is stored.
    init() throws {
        self.pinning = try Pinning(
            root: .bundled("tumbler-root"), list: .bundled("tumbler-pins"),
            refreshFrom: URL(string: "https://pins.example.com/v1/lists/com.example.bank"))
        self.session = .pinned(by: self.pinning)
    }

    /// The balance, or what to tell the person instead.
    func balance() async -> String {
        guard let url = URL(string: "https://api.example.com/balance") else { return "No address." }
        do {
            let (data, _) = try await self.session.pinnedData(for: URLRequest(url: url))
            return String(decoding: data.prefix(100), as: UTF8.self)
        } catch let refusal as PinningError {
            // For support: the host, the pins expected and seen, the issuer. For the person: one sentence.
            print(refusal)
            return "This network may be intercepting connections. Nothing was sent."
        } catch {
            return "No connection: \(error.localizedDescription)"
        }
    }
}
