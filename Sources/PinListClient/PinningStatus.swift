// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import PinListMetadata

/// The status of a client at one moment, for people and tools.
public struct PinningStatus: Hashable, Sendable {
    /// The origin of a list in force.
    public enum Source: String, Hashable, Sendable {
        /// This process fetched it.
        case remote
        /// An earlier process, or another one, stored it.
        case stored
        /// The app ships it.
        case bundled
    }

    /// The list in force.
    public struct List: Hashable, Sendable {
        /// Its name.
        public let name: String
        /// Its version.
        public let version: Int64
        /// The origin.
        public let source: Source
        /// Whether it is signed by the signers of today.
        public let status: HeldList.Status
        /// Whether it has expired.
        public let isStale: Bool
    }

    /// The version of the newest root; `nil` for fixed rules without a list.
    public let rootVersion: Int64?

    /// The list in force; `nil` for a tool without any list yet, and for rules without a list.
    public let list: List?
}

extension Pinning {
    /// The status now.
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

    /// 64 past events, as ``Pinning/events()`` begins with, for tools that run once.
    @_spi(Tools)
    public nonisolated var recentEvents: [PinningEvent] { self.hub.kept }
}
