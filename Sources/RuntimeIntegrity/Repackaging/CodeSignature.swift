// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(CryptoKit)
internal import CryptoKit
internal import Foundation
#endif

/// The signature of one part of a program, as `LC_CODE_SIGNATURE` names it: a list of blobs (`CS_SuperBlob`,
/// `<kern/cs_blobs.h>` of XNU). Its numbers are big endian.
///
/// The signature is read but not verified: an unchanged system verified it before the program ran.
struct CodeSignature: Sendable {
    /// The strongest CodeDirectory, which is the one that counts.
    let directory: CodeDirectory
    /// The signed entitlements; `nil` where there are none.
    let entitlements: Entitlements?
    /// Whether a certificate signed: there is a CMS message, and the CodeDirectory is not marked ad hoc.
    let isByCertificate: Bool

    private struct Blob {
        let kind: UInt32
        let offset: UInt64
        let magic: UInt32
        let count: UInt64
    }

    /// Reads one.
    ///
    /// - Parameters:
    ///   - bytes: The bytes from its first one on.
    ///   - room: The length in `LC_CODE_SIGNATURE`.
    init(_ bytes: ExecutableBytes, room: UInt64) throws(ImageError) {
        let blobs = try Self.blobs(bytes, room)
        // CSSLOT_CODEDIRECTORY, and CSSLOT_ALTERNATE_CODEDIRECTORIES, of which there are five.
        var directories: [CodeDirectory] = []
        for blob in blobs where blob.kind == 0 || (0x1000..<0x1005).contains(blob.kind) {
            guard blob.magic == 0xFADE_0C02 else {
                throw ImageError(.malformed, "a CodeDirectory has a wrong magic number")
            }
            directories.append(
                try CodeDirectory(bytes.part(from: blob.offset, count: blob.count), count: blob.count))
        }
        guard blobs.contains(where: { $0.kind == 0 }), let best = directories.max(by: { $0.hashKind < $1.hashKind })
        else { throw ImageError(.malformed, "a signature without a CodeDirectory") }
        self.directory = best
        // CSSLOT_SIGNATURESLOT. An empty one stands in signatures without a certificate.
        let message = blobs.first { $0.kind == 0x1_0000 }
        self.isByCertificate = (message?.count ?? 0) > 8 && !best.isWithoutCertificate
        self.entitlements = try Self.entitlements(blobs, bytes)
    }

    private static func blobs(_ bytes: ExecutableBytes, _ room: UInt64) throws(ImageError) -> [Blob] {
        guard let header = bytes.bytes(at: 0, count: 12), let count = header.bigEndian(UInt32.self, at: 4),
            let number = header.bigEndian(UInt32.self, at: 8)
        else { throw ImageError(.truncated, "the signature is cut") }
        guard header.bigEndian(UInt32.self, at: 0) == 0xFADE_0CC0, UInt64(count) <= room else {
            throw ImageError(.malformed, "the signature has a wrong magic number, or is longer than its place")
        }
        guard number <= UInt32(SignatureLimits.blobs) else {
            throw ImageError(.tooLarge, "a signature of more than \(SignatureLimits.blobs) parts")
        }
        let end = 12 + UInt64(number) * 8
        guard end <= UInt64(count), let index = bytes.bytes(at: 12, count: Int(number) * 8) else {
            throw ImageError(.truncated, "the list of a signature's parts is cut")
        }
        var blobs: [Blob] = []
        for entry in stride(from: 0, to: index.count, by: 8) {
            guard let kind = index.bigEndian(UInt32.self, at: entry),
                let offset = index.bigEndian(UInt32.self, at: entry + 4), UInt64(offset) >= end,
                UInt64(offset) + 8 <= UInt64(count), let header = bytes.bytes(at: UInt64(offset), count: 8),
                let magic = header.bigEndian(UInt32.self, at: 0), let size = header.bigEndian(UInt32.self, at: 4),
                size >= 8, UInt64(offset) + UInt64(size) <= UInt64(count)
            else { throw ImageError(.malformed, "a part of the signature lies outside of it") }
            guard !blobs.contains(where: { $0.kind == kind }) else {
                throw ImageError(.malformed, "a signature with two parts of one kind")
            }
            blobs.append(Blob(kind: kind, offset: UInt64(offset), magic: magic, count: UInt64(size)))
        }
        return blobs
    }

    /// CSSLOT_ENTITLEMENTS. Those in DER (CSSLOT_DER_ENTITLEMENTS) have the same contents, and are not read.
    private static func entitlements(
        _ blobs: [Blob], _ bytes: ExecutableBytes
    ) throws(ImageError) -> Entitlements? {
        guard let blob = blobs.first(where: { $0.kind == 5 }) else {
            guard !blobs.contains(where: { $0.kind == 7 }) else {
                throw ImageError(.unsupported, "entitlements in DER alone")
            }
            return nil
        }
        guard blob.magic == 0xFADE_7171 else {
            throw ImageError(.malformed, "the entitlements have a wrong magic number")
        }
        guard blob.count - 8 <= UInt64(SignatureLimits.entitlementBytes) else {
            throw ImageError(.tooLarge, "entitlements of more than \(SignatureLimits.entitlementBytes) bytes")
        }
        guard blob.count > 8 else { return nil }
        guard let text = bytes.bytes(at: blob.offset + 8, count: Int(blob.count - 8)) else {
            throw ImageError(.truncated, "the entitlements are cut")
        }
        return Entitlements(try PropertyListText.read(text))
    }
}

/// The part of a signature that names the program and has the hashes of its pages (`CS_CodeDirectory`, `<kern/cs_blobs.h>` of
/// XNU). Its numbers are big endian.
struct CodeDirectory: Sendable {
    /// The hash functions of pages (`CS_HASHTYPE_…`), from the weakest to the strongest.
    enum HashKind: UInt8, Comparable, Sendable {
        case sha1 = 1
        case sha256 = 2
        case truncatedSHA256 = 3
        case sha384 = 4

        /// The kernel takes the strongest; of the two of SHA-256 the one that is not cut.
        private var rank: Int {
            switch self {
            case .sha1: 0
            case .truncatedSHA256: 1
            case .sha256: 2
            case .sha384: 3
            }
        }

        static func < (one: Self, other: Self) -> Bool { one.rank < other.rank }
    }

    /// The bytes of the signature.
    let bytes: ExecutableBytes
    /// The length in bytes.
    let count: UInt64
    /// The identifier of the program: the bundle identifier, where Xcode signed.
    let identifier: String
    /// The team that signed; `nil` where there is none.
    let team: String?
    /// The hash function of the pages.
    let hashKind: HashKind
    /// Whether it is marked as signed without a certificate (`CS_ADHOC`).
    let isWithoutCertificate: Bool

    /// The minimum length in bytes, that of the oldest version.
    private static let shortest: UInt64 = 44
    /// The first version with a team (`CS_SUPPORTSTEAMID`).
    private static let versionWithTeam: UInt32 = 0x2_0200

    /// Reads one.
    ///
    /// - Parameters:
    ///   - bytes: The bytes from its first one on.
    ///   - count: The length in the signature.
    init(_ bytes: ExecutableBytes, count: UInt64) throws(ImageError) {
        guard count >= Self.shortest, let header = bytes.prefix(at: 0, maximum: Int(min(count, 52))) else {
            throw ImageError(.truncated, "the CodeDirectory is cut")
        }
        func number(_ index: Int) throws(ImageError) -> UInt32 {
            guard let number = header.bigEndian(UInt32.self, at: index) else {
                throw ImageError(.truncated, "the CodeDirectory is cut")
            }
            return number
        }
        let size = UInt64(header[36])
        guard let hashKind = HashKind(rawValue: header[37]) else {
            throw ImageError(.unsupported, "a CodeDirectory with an unknown hash function")
        }
        // The hashes of other parts precede those of the pages.
        let hashes = UInt64(try number(16))
        let before = UInt64(try number(24)) * size
        let pages = UInt64(try number(28)) * size
        guard size > 0, hashes >= Self.shortest + before, hashes + pages <= count else {
            throw ImageError(.malformed, "the hashes of a CodeDirectory lie outside of it")
        }
        self.bytes = bytes
        self.count = count
        self.hashKind = hashKind
        self.isWithoutCertificate = try number(12) & 2 != 0
        self.identifier = try Self.name(bytes, at: UInt64(try number(20)), count)
        let teamOffset = try number(8) >= Self.versionWithTeam ? UInt64(try number(48)) : 0
        self.team = teamOffset == 0 ? nil : try Self.name(bytes, at: teamOffset, count)
    }

    private static func name(
        _ bytes: ExecutableBytes, at offset: UInt64, _ count: UInt64
    ) throws(ImageError) -> String {
        guard offset >= self.shortest, offset < count,
            let read = bytes.prefix(
                at: offset, maximum: Int(min(count - offset, UInt64(SignatureLimits.nameLength) + 1))),
            let end = read.firstIndex(of: 0)
        else { throw ImageError(.malformed, "a name of the CodeDirectory does not end within it") }
        // Bytes that are not UTF-8 are replaced, so the name equals no declared one.
        return String(decoding: read[..<end], as: UTF8.self)
    }

    /// The hash by which the system knows the program.
    ///
    /// - Parameter sha256: The hash function.
    /// - Throws: An error where it needs another hash function, or the CodeDirectory is too large.
    func hash(_ sha256: ([UInt8]) -> [UInt8]) throws(ImageError) -> CodeDirectoryHash {
        guard [.sha256, .truncatedSHA256].contains(self.hashKind) else {
            throw ImageError(.unsupported, "a CodeDirectory whose hash is not SHA-256")
        }
        guard self.count <= UInt64(SignatureLimits.hashedBytes) else {
            throw ImageError(.tooLarge, "a CodeDirectory of more than \(SignatureLimits.hashedBytes) bytes")
        }
        var all: [UInt8] = []
        while UInt64(all.count) < self.count {
            let maximum = min(self.count - UInt64(all.count), UInt64(ExecutableBytes.maximumReadLength))
            guard let piece = self.bytes.prefix(at: UInt64(all.count), maximum: Int(maximum)) else {
                throw ImageError(.truncated, "the CodeDirectory is cut")
            }
            all += piece
        }
        guard let hash = CodeDirectoryHash(sha256(all)) else {
            throw ImageError(.malformed, "the hash function gave too few bytes")
        }
        return hash
    }
}

/// The hash of a program's CodeDirectory, which has the hashes of all its pages: `codesign` calls it CDHash.
public struct CodeDirectoryHash: Hashable, Sendable, CustomStringConvertible {
    /// The length: the number of bytes of the hash function's result.
    static let count = 20

    /// The bytes, ``count`` of them.
    let bytes: [UInt8]

    /// Creates a hash from 40 hexadecimal digits, as `codesign -dvvv` and `scripts/code-directory-hash` print it.
    ///
    /// - Returns: `nil` for any other text.
    public init?(_ hexadecimal: String) {
        let digits = hexadecimal.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 2 * Self.count, hexadecimal.utf8.count == digits.count else { return nil }
        self.bytes = stride(from: 0, to: digits.count, by: 2).map {
            UInt8(truncatingIfNeeded: digits[$0] << 4 | digits[$0 + 1])
        }
    }

    /// Creates a hash from the hash function's result, of which the first ``count`` bytes count.
    ///
    /// - Returns: `nil` for fewer.
    init?(_ result: [UInt8]) {
        guard result.count >= Self.count else { return nil }
        self.bytes = Array(result.prefix(Self.count))
    }

    /// The hash in lower-case hexadecimal.
    public var description: String {
        self.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// The hash function of the system that the app runs on.
enum SystemHash {
    /// SHA-256; `nil` where the system has none, as Linux.
    static var sha256: (@Sendable ([UInt8]) -> [UInt8])? {
        #if canImport(CryptoKit)
        return { bytes in Array(SHA256.hash(data: bytes)) }
        #else
        return nil
        #endif
    }
}

/// The limits of reading a signature and a provisioning profile: both may be hostile.
enum SignatureLimits {
    /// Parts of a signature. Apple's tools write five to ten.
    static let blobs = 64
    /// UTF-8 bytes of an identifier or a team.
    static let nameLength = 1_024
    /// Bytes of the entitlements: one read. Apps have up to some thousand.
    static let entitlementBytes = ExecutableBytes.maximumReadLength
    /// Bytes of a CodeDirectory of which the hash is made: 32 for each page, so 256 MiB of a program for arm64 with its
    /// pages of 16 KiB. Half of the mebibyte that this module may hold at any time.
    static let hashedBytes = 1 << 19
    /// Bytes of a provisioning profile. One with a hundred devices has some 20,000.
    static let profileBytes = 1 << 18
    /// The maximum nesting of BER and property lists. Profiles have eight and four.
    static let depth = 16
    /// Elements of BER that one look goes through, and values of a property list.
    static let elements = 20_000
}
