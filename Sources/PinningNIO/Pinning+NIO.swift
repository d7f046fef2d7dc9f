// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import Foundation
public import PinListClient

extension Pinning {
    /// Puts the embedded list in force, or a newer one that is stored; lists are fetched, and reports sent, by
    /// AsyncHTTPClient.
    ///
    /// - Parameters:
    ///   - root: The root that the app ships: the anchor of all trust. The list's name is taken from it.
    ///   - list: The list that the app ships.
    ///   - logs: The log list that the app ships, where its list names one: `tumbler-logs.json`.
    ///   - address: The base address of the list (`…/v1/lists/{name}`), `https`; `nil` for a list that is never
    ///     refreshed.
    ///   - state: The location of stored lists and roots.
    /// - Throws: `PinningSetupError` for what is wrong in the build.
    public init(
        root: EmbeddedFile, list: EmbeddedFile, logs: EmbeddedFile? = nil, refreshFrom address: URL?,
        state: StateLocation
    ) throws(PinningSetupError) {
        let fetcher = HTTPClientFetcher()
        try self.init(
            root: root, list: list, logs: logs, refreshFrom: address, state: state,
            configuration: PinningConfiguration(fetcher: fetcher, reportSender: fetcher))
    }
}
#endif
