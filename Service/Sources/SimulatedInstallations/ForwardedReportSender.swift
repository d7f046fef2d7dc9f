// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
package import PinListClient

/// Sends reports as they come through a proxy in front of the service: with the address of the sender. The service
/// believes it, because it is told to trust this machine (`trustedProxies`).
package struct ForwardedReportSender: ReportSender {
    /// The time that an answer may take.
    static let timeout: TimeAmount = .seconds(30)

    /// The connections of all clients.
    let client: HTTPClient
    /// The place of this client.
    let place: SimulatedPlace
    /// The tally that counts its reports.
    let tally: ReportTally

    /// A sender for one client.
    package init(client: HTTPClient, place: SimulatedPlace, tally: ReportTally) {
        self.client = client
        self.place = place
        self.tally = tally
    }

    /// Posts a body.
    ///
    /// - Throws: `FetchError`.
    package func send(_ body: [UInt8], to address: String) async throws -> FetchResponse {
        var request = HTTPClientRequest(url: address)
        request.method = .POST
        request.headers = ["Content-Type": "application/json", "X-Forwarded-For": self.place.address]
        request.body = .bytes(ByteBuffer(bytes: body))
        do {
            let response = try await self.client.execute(request, timeout: Self.timeout)
            await self.tally.count(isAccepted: response.status == .accepted)
            return FetchResponse(status: Int(clamping: response.status.code))
        } catch {
            await self.tally.count(isAccepted: false)
            throw FetchError(.network, "\(error)")
        }
    }
}

/// Counts reports that were sent, and lets a caller wait until they are.
package actor ReportTally {
    /// The number of reports that the service accepted.
    package private(set) var accepted = 0
    /// The number that it did not, for any reason.
    package private(set) var turnedAway = 0
    private var waiting: [(total: Int, continuation: CheckedContinuation<Void, Never>)] = []

    /// Begins with none.
    package init() {}

    /// Counts one.
    func count(isAccepted: Bool) {
        if isAccepted { self.accepted += 1 } else { self.turnedAway += 1 }
        let total = self.accepted + self.turnedAway
        for waiter in self.waiting where waiter.total <= total { waiter.continuation.resume() }
        self.waiting.removeAll { $0.total <= total }
    }

    /// Waits until so many were counted since the beginning.
    package func wait(for total: Int) async {
        guard self.accepted + self.turnedAway < total else { return }
        await withCheckedContinuation { self.waiting.append((total, $0)) }
    }
}
