// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The most of everything that is read of a signature and of a provisioning profile: both may be hostile.
enum SignatureLimits {
    /// Parts of a signature. Apple's tools write five to ten.
    static let blobs = 64
    /// UTF-8 bytes of an identifier or a team.
    static let nameLength = 1_024
    /// Bytes of the entitlements: one read. Apps have up to some thousand.
    static let entitlementBytes = ExecutableBytes.longestRead
    /// Bytes of a CodeDirectory of which the hash is made: 32 for each page, so 256 MiB of a program for arm64 with its
    /// pages of 16 KiB. Half of the mebibyte that this module may hold at any time.
    static let hashedBytes = 1 << 19
    /// Bytes of a provisioning profile. One with a hundred devices has some 20,000.
    static let profileBytes = 1 << 18
    /// How deep BER and property lists nest. Profiles: eight and four.
    static let depth = 16
    /// Elements of BER that one look goes through, and values of a property list.
    static let elements = 20_000
}
