// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
/// The fields of authenticator data (Web Authentication, section 6.1), as App Attest uses it. Each is `nil` where
/// the data ends before it.
///
/// The flags are ignored: devices set "attested data follows" where none does, and leave "extensions follow" clear
/// where some do.
@_spi(Parsers) public struct AuthenticatorData: Sendable {
    /// The length of the common beginning of attestations and assertions: hash, flags and counter.
    @_spi(Parsers) public static let headLength = 37

    private static let idHashLength = 32
    private static let aaguidLength = 16

    /// All bytes, from which the nonce is computed.
    @_spi(Parsers) public let bytes: [UInt8]

    /// Creates it from bytes of any length.
    @_spi(Parsers) public init(bytes: [UInt8]) { self.bytes = bytes }

    /// The SHA-256 of the app id.
    @_spi(Parsers) public var idHash: ArraySlice<UInt8>? { self.field(at: 0, length: Self.idHashLength) }

    /// The counter of the key's signatures.
    @_spi(Parsers) public var counter: UInt32? {
        self.field(at: 33, length: 4).map { $0.reduce(0) { $0 << 8 | UInt32($1) } }
    }

    /// The bytes of the environment (AAGUID).
    @_spi(Parsers) public var aaguid: ArraySlice<UInt8>? { self.field(at: Self.headLength, length: Self.aaguidLength) }

    /// The id of the attested key.
    @_spi(Parsers) public var credentialID: ArraySlice<UInt8>? {
        let start = Self.headLength + Self.aaguidLength
        guard let length = self.field(at: start, length: 2) else { return nil }
        return self.field(at: start + 2, length: length.reduce(0) { $0 << 8 | Int($1) })
    }

    /// The bytes after hash, flags and counter.
    @_spi(Parsers) public var rest: ArraySlice<UInt8> { self.bytes.dropFirst(Self.headLength) }

    private func field(at start: Int, length: Int) -> ArraySlice<UInt8>? {
        guard start <= self.bytes.count, length <= self.bytes.count - start else { return nil }
        return self.bytes[start..<(start + length)]
    }
}
#endif
