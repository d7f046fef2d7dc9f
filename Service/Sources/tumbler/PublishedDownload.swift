// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import PinListClient
import PinListMetadata
import PinningNIO

/// The list that clients have, from where they get it.
enum PublishedDownload {
    /// Fetches the list at an address, or the `pins.json` below it.
    ///
    /// - Throws: ``CommandFailure`` with what to look at.
    static func bytes(of address: String) async throws(CommandFailure) -> [UInt8] {
        let path = address.hasSuffix(".json") ? address : address + (address.hasSuffix("/") ? "" : "/") + "pins.json"
        guard ReportAddress.isAllowed(path) else {
            throw CommandFailure(.usage, "\(address): not an https address", hint: "http is for loopback alone")
        }
        let response: FetchResponse
        do {
            response = try await HTTPClientFetcher().fetch(
                FetchRequest(address: path, maximumBytes: MetadataLimits().listBytes))
        } catch {
            throw CommandFailure(.undecided, "\(path): \(error)")
        }
        guard response.status == 200 else {
            throw CommandFailure(
                .undecided, "\(path): the server answers \(response.status)",
                hint: "the address of a list ends with its name")
        }
        return response.body
    }
}
