// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import PinListMetadata

/// What a client trusts at one moment, for people and their tools.
public struct PinningStatus: Hashable, Sendable {
    /// Where a list in force came from.
    public enum Source: String, Hashable, Sendable {
        /// This process fetched it.
        case remote
        /// It was stored by an earlier one.
        case stored
        /// It is the one that the app ships.
        case bundled
    }

    /// The list in force.
    public struct List: Hashable, Sendable {
        /// Its name.
        public let name: String
        /// Its version.
        public let version: Int64
        /// Where it came from.
        public let source: Source
        /// Whether those sign it who sign today.
        public let status: HeldList.Status
        /// Whether it has expired.
        public let isStale: Bool
    }

    /// The version of the newest root; `nil` where the rules came with the app and no list did.
    public let rootVersion: Int64?

    /// The list in force; `nil` for a tool that began with nothing and got nothing, and for rules without a list.
    public let list: List?
}

extension Pinning {
    /// What is trusted now.
    public var status: PinningStatus {
        let clock = self.configuration.clock.now
        let trust = self.trust
        let list = trust?.inForce.map { held, source in
            PinningStatus.List(
                name: held.list.name, version: held.list.version,
                source: source == .bundled ? .bundled : self.wasFetched ? .remote : .stored, status: held.status,
                isStale: trust?.isStale(clock) ?? false)
        }
        return PinningStatus(rootVersion: trust?.chain.newest.version, list: list)
    }

    /// The last 64 events, for tools that look once.
    @_spi(Tools)
    public nonisolated var recentEvents: [PinningEvent] { self.hub.kept }
}
