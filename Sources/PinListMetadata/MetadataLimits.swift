// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The limits of metadata: sizes are checked before anything is parsed or verified.
public struct MetadataLimits: Hashable, Sendable {
    /// The maximum size of a root's envelope in bytes (`root_max_length` of python-tuf and go-tuf: 512,000).
    public var rootBytes: Int

    /// The maximum size of a list's envelope in bytes (formats.md, section 3.2).
    public var listBytes: Int

    /// Creates limits; the defaults are those of the format (formats.md, section 3).
    public init(rootBytes: Int = 512_000, listBytes: Int = 4_194_304) {
        self.rootBytes = rootBytes
        self.listBytes = listBytes
    }

    /// The maximum number of new roots in one refresh (formats.md, section 3.1).
    public static let rotationsPerRefresh = 256
    /// The maximum number of keys in a root (formats.md, section 3).
    public static let keys = 32
    /// The maximum number of signatures in an envelope (formats.md, section 3).
    public static let signatures = 32
    /// The maximum length of a decoded signature in bytes (formats.md, section 3): later algorithms may have longer
    /// ones than today's.
    public static let signatureBytes = 65_536
    /// The maximum number of JSON values in an envelope, which is parsed before it is verified (decision 0014): some
    /// hundred are needed.
    public static let envelopeValues = 4_096
    /// The maximum number of entries in a list (formats.md, section 3.2).
    public static let domains = 10_000
    /// The maximum number of pins in an entry (formats.md, section 3.2).
    public static let pins = 16
    /// The maximum number of denied keys in a list (formats.md, section 3.2).
    public static let denied = 256
    /// The maximum number of entries of revoked certificates in a list (formats.md, section 3.2): one for each issuer
    /// is enough.
    public static let revokedIssuers = 256
    /// The maximum number of revoked serial numbers in a list, of all issuers together (formats.md, section 3.2).
    public static let revokedSerials = 4_096
    /// The maximum number of suspensions in a list (formats.md, section 3.2).
    public static let suspended = 256
    /// The maximum version, 2^53 - 1: the whole numbers that every JSON reader keeps exactly (RFC 8259, section 6).
    public static let version: Int64 = (Int64(1) << 53) - 1
    /// The maximum length of a list's name in bytes (formats.md, section 3).
    public static let nameBytes = 128
    /// The maximum length of a suspension, in seconds from the list's `issuedAt`: seven days (formats.md, section 3.2).
    public static let suspensionSeconds: Int64 = 7 * 86_400
    /// The maximum lead of `issuedAt` over a client's clock, in seconds: a day (formats.md, section 3.3).
    public static let futureSeconds: Int64 = 86_400
    /// The allowed values of `reportPerMillion` (formats.md, section 3.2); the highest, all installations, is the
    /// default.
    public static let reportPerMillion: ClosedRange<Int64> = 1...1_000_000
    /// The range to which clients clamp `refreshAfter`, in seconds (formats.md, section 3.2).
    public static let refreshAfter: ClosedRange<Int64> = 900...86_400
}
