// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
@_spi(Tools) import PinListClient
import PinningNIO

extension Pinning {
    /// An app's client, for one command: its clock stands still, lists come over SwiftNIO, and it sends no reports.
    ///
    /// - Parameters:
    ///   - time: The time of the command.
    ///   - root: The root that the app ships.
    ///   - list: The list that the app ships; without one every host is refused until a list was fetched.
    ///   - logs: The log list that the app ships.
    ///   - address: Where lists are refreshed from.
    ///   - state: Where the client keeps its state.
    ///   - fetcher: What fetches lists; `nil` where none is fetched.
    init(
        forCommandAt time: Timestamp, root: [UInt8], list: [UInt8]?, logs: [UInt8]? = nil,
        refreshFrom address: URL? = nil, state: StateLocation = .memory,
        fetcher: HTTPClientFetcher? = nil
    ) throws(PinningSetupError) {
        let configuration = PinningConfiguration(
            fetcher: fetcher ?? HTTPClientFetcher(), reportSender: NoReports(), clock: CommandClock(now: time))
        let logs = logs.map { EmbeddedFile.bytes($0) }
        guard let list else {
            try self.init(
                root: .bytes(root), logs: logs, refreshFrom: address, state: state, configuration: configuration)
            return
        }
        try self.init(
            root: .bytes(root), list: .bytes(list), logs: logs, refreshFrom: address, state: state,
            configuration: configuration)
    }
}

/// A command looks, and reports nothing.
private struct NoReports: ReportSender {
    func send(_ body: [UInt8], to address: String) async throws -> FetchResponse {
        throw FetchError(.network, "a command sends no reports")
    }
}

/// A clock that stands still: a command takes the time once.
private struct CommandClock: PinningClock {
    let now: Timestamp

    func sleep(seconds: Double) async throws { try await SystemClock().sleep(seconds: seconds) }
}
