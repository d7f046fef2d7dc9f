// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import PinListMetadata

/// The lists that installations hold: as a service counted them, and as they must be assumed where it did not.
public struct GateHolders: Sendable {
    /// The counts of a service.
    public struct Count: Sendable {
        /// A list, and how many requests named it.
        public struct Named: Sendable {
            /// The list.
            public let list: PinList
            /// The number of requests that named it.
            public let requests: Int64

            /// States a list and its requests.
            public init(_ list: PinList, requests: Int64) {
                self.list = list
                self.requests = requests
            }
        }

        /// The number of hours that are counted.
        public let hours: Int64
        /// The requests that named a list.
        public let requests: Int64
        /// The lists that are at hand. Requests that name none of these count as refusing.
        public let lists: [Named]
        /// The reason for which this is not to be decided by, in words; `nil` when it is.
        public let why: String?

        /// States a count.
        public init(hours: Int64, requests: Int64, lists: [Named], why: String?) {
            self.hours = hours
            self.requests = requests
            self.lists = lists
            self.why = why
        }
    }

    /// The counts of a service; `nil` where none counted.
    public var count: Count?

    /// The reason for which adoption is not measured, in words, where ``count`` is `nil`.
    public var whyNotCounted: String

    /// The lists that were the newest at any moment of the last `propagation`, the one in force when that time began
    /// included.
    public var recent: [PinList]

    /// The lists that should be in ``recent`` and are not at hand, in words.
    public var missing: [String]

    /// States what is known.
    public init(count: Count?, whyNotCounted: String, recent: [PinList], missing: [String]) {
        self.count = count
        self.whyNotCounted = whyNotCounted
        self.recent = recent
        self.missing = missing
    }
}
