// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Where a client keeps its state.
public struct StateLocation: Sendable {
    /// The store.
    let store: any StateStore

    /// A folder, which may be shared by several processes; it is made when something is first written.
    public static func folder(_ path: String) -> StateLocation { StateLocation(store: StateFolder(path: path)) }

    /// Nowhere: each start begins with the shipped list. For short-lived tools and tests.
    public static var memory: StateLocation { StateLocation(store: MemoryStore()) }

    /// A store of the app's own.
    public static func store(_ store: any StateStore) -> StateLocation { StateLocation(store: store) }
}
