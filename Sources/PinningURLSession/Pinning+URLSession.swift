// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@_exported public import CertificatePinning
public import Foundation
internal import Logging
@_exported public import PinListClient

extension Pinning {
    /// Puts the embedded list in force, or a newer one that is stored; lists are fetched, and reports sent, by
    /// URLSession.
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
        try self.init(
            root: root, list: list, logs: logs, refreshFrom: address, state: state, configuration: .urlSession)
    }

    #if canImport(Security)
    /// The same, with the state in Application Support.
    ///
    /// - Parameters:
    ///   - root: The root that the app ships: the anchor of all trust. The list's name is taken from it.
    ///   - list: The list that the app ships.
    ///   - logs: The log list that the app ships, where its list names one: `tumbler-logs.json`.
    ///   - address: The base address of the list (`…/v1/lists/{name}`), `https`; `nil` for a list that is never
    ///     refreshed.
    /// - Throws: `PinningSetupError` for what is wrong in the build.
    public init(
        root: EmbeddedFile, list: EmbeddedFile, logs: EmbeddedFile? = nil, refreshFrom address: URL?
    ) throws(PinningSetupError) {
        try self.init(root: root, list: list, logs: logs, refreshFrom: address, state: .applicationSupport)
    }
    #endif

    /// Puts fixed rules of the app in force, for pins that an app has already: see `PinningMigration`.
    ///
    /// - Parameters:
    ///   - policy: The rules.
    ///   - state: The store for waiting reports; a folder keeps them over restarts.
    public init(policy: PinningPolicy, state: StateLocation = .memory) {
        self.init(policy: policy, state: state, configuration: .urlSession)
    }
}

extension PinningConfiguration {
    /// Lists are fetched, and reports sent, by URLSession. On Apple's platforms the highest version is marked in the
    /// Keychain, too, and events are written to the system's log.
    public static var urlSession: PinningConfiguration {
        var configuration = PinningConfiguration(fetcher: URLSessionFetcher(), reportSender: URLSessionFetcher())
        #if canImport(Security)
        configuration.versionMark = KeychainVersionMark()
        #if canImport(os)
        let app = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        configuration.logger = Logger(label: "Tumbler") { _ in OSLogHandler(subsystem: app, category: "Tumbler") }
        #endif
        #endif
        return configuration
    }
}
