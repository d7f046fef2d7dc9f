// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Where a client keeps its state.
public struct StateLocation: Sendable {
    private let makeStore: @Sendable (_ name: String) -> any StateStore

    /// A folder, which may be shared by several processes; it is made when something is first written.
    public static func folder(_ path: String) -> StateLocation { .store(StateFolder(path: path)) }

    /// Nowhere: each start begins with the shipped list. For short-lived tools and tests.
    public static var memory: StateLocation { .store(MemoryStore()) }

    /// A store of the app's own.
    public static func store(_ store: any StateStore) -> StateLocation { StateLocation { _ in store } }

    /// A store for each list.
    ///
    /// - Parameter makeStore: Is given the list's name, which may name a folder: `[A-Za-z0-9][A-Za-z0-9._-]{0,127}`.
    public init(_ makeStore: @escaping @Sendable (_ name: String) -> any StateStore) { self.makeStore = makeStore }

    /// The store of a list.
    func store(of name: String) -> any StateStore { self.makeStore(name) }
}
