// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The status of one name at a service: its list, its root, and how far the list has spread.
struct PublishedNameStatus: Decodable, Sendable {
    /// A list or a root.
    struct Published: Decodable, Sendable {
        /// The version.
        var version: Int64?
        /// The time of publication.
        var publishedAt: String?
        /// The time at which it expires.
        var expiresAt: String?
    }

    /// An estimate from unauthenticated requests.
    struct Adoption: Decodable, Sendable {
        /// The word of the service for an estimate that exists.
        static let measured = "measured"

        /// `measured`, or anything else.
        var state: String?
        /// The share of the active installations that hold a version or a newer one, 0 to 1, by version.
        var share: [String: Double]?
        /// The number of requests that the estimate is from.
        var base: Int?
        /// The seconds over which they were counted.
        var window: Int64?
        /// The time at which 99 in 100 will hold the newest list.
        var ninetyNine: String?
        /// The reason for which it is not measured.
        var why: String?

        private enum CodingKeys: CodingKey { case state, share, base, window, ninetyNine, why }

        /// Reads it.
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.state = container.lenient(.state)
            self.share = container.lenient(.share)
            self.base = container.lenient(.base)
            self.window = container.lenient(.window)
            self.ninetyNine = container.lenient(.ninetyNine)
            self.why = container.lenient(.why)
        }

        /// The share that holds a version or a newer one; `nil` when it is not measured.
        ///
        /// A version of which the service says nothing has the share of the next newer one: an installation that holds
        /// that one holds this or a newer one, too. Above all versions it is zero.
        func share(holding version: Int64) -> Double? {
            guard self.state == Self.measured, let share else { return nil }
            let versions = share.keys.compactMap { Int64($0) }.filter { $0 >= version }
            guard let nearest = versions.min(), let value = share["\(nearest)"] else { return 0 }
            return value.isFinite ? min(max(value, 0), 1) : nil
        }
    }

    /// The name.
    var name: String
    /// The list that is served.
    var list: Published?
    /// The newest root.
    var root: Published?
    /// The spread of the list.
    var adoption: Adoption?

    private enum CodingKeys: CodingKey { case name, list, root, adoption }

    /// Reads it.
    ///
    /// - Throws: `DecodingError` without a name.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.name = try container.decode(String.self, forKey: .name)
        self.list = container.lenient(.list)
        self.root = container.lenient(.root)
        self.adoption = container.lenient(.adoption)
    }
}
