// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinningNIO

/// What stands for a server of lists in the attacker's hand: a folder's `offered.json`. Reports go nowhere.
struct FolderFetcher: ListFetcher, ReportSender {
    /// The folder.
    let folder: String

    func fetch(_ request: FetchRequest) async throws -> FetchResponse {
        guard request.address.hasSuffix("/pins.json") else { return FetchResponse(status: 404) }
        let list = try Data(contentsOf: URL(fileURLWithPath: Stage.path("offered.json", self.folder)))
        return FetchResponse(status: 200, body: [UInt8](list))
    }

    func send(_ body: [UInt8], to address: String) async throws -> FetchResponse { FetchResponse(status: 200) }
}
