// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Crypto

/// The id of a log: the SHA-256 of its SubjectPublicKeyInfo (RFC 6962, section 3.2).
public struct LogID: Hashable, Sendable, CustomStringConvertible {
    /// The length of an id, in bytes.
    static let length = 32

    /// The 32 bytes.
    public let bytes: [UInt8]

    /// The id with these bytes; `nil` when they are not 32.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = Array(bytes)
    }

    /// The id of the log with a key.
    ///
    /// - Parameter key: The DER SubjectPublicKeyInfo, as it stands in a log list.
    public init(ofKey key: [UInt8]) { self.bytes = Array(SHA256.hash(data: key)) }

    /// Base64, as log lists write it.
    public var description: String { Base64.encode(self.bytes) }

    /// Logs whose private keys are public, put into the list that Chrome's publisher serves to libraries so that enforcing
    /// with it proves nothing (GoogleChrome/CertificateTransparency, `mimics/`, of February 2026). They are unknown here,
    /// whatever list names them.
    public static let traps: Set<LogID> = Set(
        [
            "9EGV1vAOLbVUNcrdV3iS5T4VrUFwWPh44U/2uRh0FYk=", "si9+3rWvav5QPeBAgbLXTBJThJL+3yyypSZQPO9TztI=",
        ].compactMap { Base64.decode($0.utf8).flatMap { LogID($0) } })
}
