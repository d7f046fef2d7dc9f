// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The part of a signature that names the program and has the hashes of its pages (`CS_CodeDirectory`, `<kern/cs_blobs.h>` of
/// XNU). Its numbers are big endian.
struct CodeDirectory: Sendable {
    /// How pages are hashed (`CS_HASHTYPE_…`), from the weakest to the strongest.
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

    /// All of it, in the signature.
    let bytes: ExecutableBytes
    /// How many bytes it has.
    let count: UInt64
    /// What the program is called: the bundle identifier, where Xcode signed.
    let identifier: String
    /// Who signed; `nil` where there is no team.
    let team: String?
    /// How pages are hashed.
    let hashKind: HashKind
    /// Whether it says of itself that there is no certificate (`CS_ADHOC`).
    let isWithoutCertificate: Bool

    /// The least bytes, of the oldest version.
    private static let shortest: UInt64 = 44
    /// The first version with a team (`CS_SUPPORTSTEAMID`).
    private static let versionWithTeam: UInt32 = 0x2_0200

    /// Reads one.
    ///
    /// - Parameters:
    ///   - bytes: From its first byte on.
    ///   - count: How many bytes the signature says that it has.
    init(_ bytes: ExecutableBytes, count: UInt64) throws(ImageRefusal) {
        guard count >= Self.shortest, let header = bytes.prefix(at: 0, most: Int(min(count, 52))) else {
            throw ImageRefusal(.truncated, "the CodeDirectory is cut")
        }
        func number(_ index: Int) throws(ImageRefusal) -> UInt32 {
            guard let number = header.bigEndian(UInt32.self, at: index) else {
                throw ImageRefusal(.truncated, "the CodeDirectory is cut")
            }
            return number
        }
        let size = UInt64(header[36])
        guard let hashKind = HashKind(rawValue: header[37]) else {
            throw ImageRefusal(.unsupported, "a CodeDirectory with hashes that are not known")
        }
        // The hashes of parts that are no pages stand before those of the pages.
        let hashes = UInt64(try number(16))
        let before = UInt64(try number(24)) * size
        let pages = UInt64(try number(28)) * size
        guard size > 0, hashes >= Self.shortest + before, hashes + pages <= count else {
            throw ImageRefusal(.malformed, "the hashes of a CodeDirectory lie outside of it")
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
    ) throws(ImageRefusal) -> String {
        guard offset >= self.shortest, offset < count,
            let read = bytes.prefix(at: offset, most: Int(min(count - offset, UInt64(SignatureLimits.nameLength) + 1))),
            let end = read.firstIndex(of: 0)
        else { throw ImageRefusal(.malformed, "a name of the CodeDirectory does not end within it") }
        // What is not UTF-8 is replaced, and equal to no name that an app declares.
        return String(decoding: read[..<end], as: UTF8.self)
    }

    /// The hash by which the system knows the program.
    ///
    /// - Parameter sha256: The hash function.
    /// - Throws: Where it is another function's, and where the CodeDirectory is too large.
    func hash(_ sha256: ([UInt8]) -> [UInt8]) throws(ImageRefusal) -> CodeDirectoryHash {
        guard [.sha256, .truncatedSHA256].contains(self.hashKind) else {
            throw ImageRefusal(.unsupported, "a CodeDirectory whose hash is not SHA-256")
        }
        guard self.count <= UInt64(SignatureLimits.hashedBytes) else {
            throw ImageRefusal(.tooLarge, "a CodeDirectory of more than \(SignatureLimits.hashedBytes) bytes")
        }
        var all: [UInt8] = []
        while UInt64(all.count) < self.count {
            let most = min(self.count - UInt64(all.count), UInt64(ExecutableBytes.longestRead))
            guard let piece = self.bytes.prefix(at: UInt64(all.count), most: Int(most)) else {
                throw ImageRefusal(.truncated, "the CodeDirectory is cut")
            }
            all += piece
        }
        guard let hash = CodeDirectoryHash(sha256(all)) else {
            throw ImageRefusal(.malformed, "the hash function gave too few bytes")
        }
        return hash
    }
}
