// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
package import PinListClient

/// Sends reports as they come through a proxy in front of the service: with the address of whoever sent them. The
/// service believes it, because it is told to trust this machine (`trustedProxies`).
package struct ForwardedReportSender: ReportSender {
    /// How long an answer may take.
    static let timeout: TimeAmount = .seconds(30)

    /// The connections of all clients.
    let client: HTTPClient
    /// Where this client is.
    let place: SimulatedPlace
    /// Who counts.
    let tally: ReportTally

    /// A sender for one client.
    package init(client: HTTPClient, place: SimulatedPlace, tally: ReportTally) {
        self.client = client
        self.place = place
        self.tally = tally
    }

    /// Posts a body.
    ///
    /// - Throws: `FetchFailure`.
    package func send(_ body: [UInt8], to address: String) async throws -> FetchResponse {
        var request = HTTPClientRequest(url: address)
        request.method = .POST
        request.headers = ["Content-Type": "application/json", "X-Forwarded-For": self.place.address]
        request.body = .bytes(ByteBuffer(bytes: body))
        do {
            let response = try await self.client.execute(request, timeout: Self.timeout)
            await self.tally.count(isAccepted: response.status == .accepted)
            return FetchResponse(status: Int(response.status.code))
        } catch {
            await self.tally.count(isAccepted: false)
            throw FetchFailure(.network, "\(error)")
        }
    }
}
