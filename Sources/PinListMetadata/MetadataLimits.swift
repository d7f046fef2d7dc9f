// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The most that is accepted of each thing, before anything is parsed or verified.
public struct MetadataLimits: Hashable, Sendable {
    /// The most bytes of a root's envelope (python-tuf and go-tuf use the same number).
    public var rootBytes: Int

    /// The most bytes of a list's envelope (formats.md, section 3.2).
    public var listBytes: Int

    /// Limits; the defaults are those of the format.
    public init(rootBytes: Int = 512_000, listBytes: Int = 4_194_304) {
        self.rootBytes = rootBytes
        self.listBytes = listBytes
    }

    /// The most new roots in one refresh.
    public static let rotationsPerRefresh = 256
    /// The most keys in a root.
    public static let keys = 32
    /// The most signatures in an envelope.
    public static let signatures = 32
    /// The most bytes of a signature, decoded: those of algorithms to come are longer than the ones of today.
    public static let signatureBytes = 65_536
    /// The most JSON values in an envelope, which is read before anything vouches for it: some hundred are needed.
    public static let envelopeValues = 4_096
    /// The most entries in a list.
    public static let domains = 10_000
    /// The most pins in an entry.
    public static let pins = 16
    /// The most denied keys in a list.
    public static let denied = 256
    /// The most entries of revoked certificates in a list: one for each issuer is enough.
    public static let revokedIssuers = 256
    /// The most serial numbers of revoked certificates in a list, of all issuers together.
    public static let revokedSerials = 4_096
    /// The most suspensions in a list.
    public static let suspended = 256
    /// The highest version: the whole numbers that every JSON reader keeps exactly.
    public static let version: Int64 = (Int64(1) << 53) - 1
    /// The most bytes of a list's name.
    public static let nameBytes = 128
    /// The longest suspension, in seconds from the list's `issuedAt`: seven days.
    public static let suspensionSeconds: Int64 = 7 * 86_400
    /// How far `issuedAt` may lie ahead of a client's clock, in seconds: a day.
    public static let futureSeconds: Int64 = 86_400
    /// What `reportPerMillion` may be; the highest, all installations, is also its default.
    public static let reportPerMillion: ClosedRange<Int64> = 1...1_000_000
    /// What clients make of `refreshAfter`, in seconds.
    public static let refreshAfter: ClosedRange<Int64> = 900...86_400
}
