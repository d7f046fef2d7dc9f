// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import PinListMetadata

/// What a refresh came to.
public struct RefreshOutcome: Hashable, Sendable {
    /// Whether a newer list or root is in force than before.
    public var hasChanged = false
    /// What was refused, in order.
    public var refused: [MetadataRefusal] = []
    /// Why nothing, or not all, could be fetched.
    public var fetchFailure: FetchFailure?
    /// Why something could not be stored; it is in force all the same.
    public var storeFailure: StoreFailure?

    /// Whether everything was fetched and nothing was refused.
    public var isSuccess: Bool { self.refused.isEmpty && self.fetchFailure == nil }
}
