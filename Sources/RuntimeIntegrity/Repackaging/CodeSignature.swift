// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The signature of one part of a program, as `LC_CODE_SIGNATURE` names it: a list of blobs (`CS_SuperBlob`,
/// `<kern/cs_blobs.h>` of XNU). Its numbers are big endian.
///
/// Read, and not verified: the system has done that before the program ran, where nobody changed the system.
struct CodeSignature: Sendable {
    /// The strongest CodeDirectory, which is the one that counts.
    let directory: CodeDirectory
    /// What the program may do, as it was signed; `nil` where nothing is said.
    let entitlements: Entitlements?
    /// Whether a certificate signed: there is a message (CMS), and the CodeDirectory does not deny it.
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
    ///   - bytes: From its first byte on.
    ///   - room: How many bytes `LC_CODE_SIGNATURE` gives it.
    init(_ bytes: ExecutableBytes, room: UInt64) throws(ImageRefusal) {
        let blobs = try Self.blobs(bytes, room)
        // CSSLOT_CODEDIRECTORY, and CSSLOT_ALTERNATE_CODEDIRECTORIES, of which there are five.
        var directories: [CodeDirectory] = []
        for blob in blobs where blob.kind == 0 || (0x1000..<0x1005).contains(blob.kind) {
            guard blob.magic == 0xFADE_0C02 else {
                throw ImageRefusal(.malformed, "a CodeDirectory begins as something else")
            }
            directories.append(
                try CodeDirectory(bytes.part(from: blob.offset, count: blob.count), count: blob.count))
        }
        guard blobs.contains(where: { $0.kind == 0 }), let best = directories.max(by: { $0.hashKind < $1.hashKind })
        else { throw ImageRefusal(.malformed, "a signature without a CodeDirectory") }
        self.directory = best
        // CSSLOT_SIGNATURESLOT. An empty one stands in signatures without a certificate.
        let message = blobs.first { $0.kind == 0x1_0000 }
        self.isByCertificate = (message?.count ?? 0) > 8 && !best.isWithoutCertificate
        self.entitlements = try Self.entitlements(blobs, bytes)
    }

    private static func blobs(_ bytes: ExecutableBytes, _ room: UInt64) throws(ImageRefusal) -> [Blob] {
        guard let header = bytes.bytes(at: 0, count: 12), let count = header.bigEndian(UInt32.self, at: 4),
            let number = header.bigEndian(UInt32.self, at: 8)
        else { throw ImageRefusal(.truncated, "the signature is cut") }
        guard header.bigEndian(UInt32.self, at: 0) == 0xFADE_0CC0, UInt64(count) <= room else {
            throw ImageRefusal(.malformed, "the signature begins as something else, or is longer than its place")
        }
        guard number <= UInt32(SignatureLimits.blobs) else {
            throw ImageRefusal(.tooLarge, "a signature of more than \(SignatureLimits.blobs) parts")
        }
        let end = 12 + UInt64(number) * 8
        guard end <= UInt64(count), let index = bytes.bytes(at: 12, count: Int(number) * 8) else {
            throw ImageRefusal(.truncated, "the list of a signature's parts is cut")
        }
        var blobs: [Blob] = []
        for entry in stride(from: 0, to: index.count, by: 8) {
            guard let kind = index.bigEndian(UInt32.self, at: entry),
                let offset = index.bigEndian(UInt32.self, at: entry + 4), UInt64(offset) >= end,
                UInt64(offset) + 8 <= UInt64(count), let header = bytes.bytes(at: UInt64(offset), count: 8),
                let magic = header.bigEndian(UInt32.self, at: 0), let size = header.bigEndian(UInt32.self, at: 4),
                size >= 8, UInt64(offset) + UInt64(size) <= UInt64(count)
            else { throw ImageRefusal(.malformed, "a part of the signature lies outside of it") }
            guard !blobs.contains(where: { $0.kind == kind }) else {
                throw ImageRefusal(.malformed, "a signature with two parts of one kind")
            }
            blobs.append(Blob(kind: kind, offset: UInt64(offset), magic: magic, count: UInt64(size)))
        }
        return blobs
    }

    /// CSSLOT_ENTITLEMENTS. Those in DER (CSSLOT_DER_ENTITLEMENTS) say the same, and are not read.
    private static func entitlements(
        _ blobs: [Blob], _ bytes: ExecutableBytes
    ) throws(ImageRefusal) -> Entitlements? {
        guard let blob = blobs.first(where: { $0.kind == 5 }) else {
            guard !blobs.contains(where: { $0.kind == 7 }) else {
                throw ImageRefusal(.unsupported, "entitlements in DER alone")
            }
            return nil
        }
        guard blob.magic == 0xFADE_7171 else {
            throw ImageRefusal(.malformed, "the entitlements begin as something else")
        }
        guard blob.count - 8 <= UInt64(SignatureLimits.entitlementBytes) else {
            throw ImageRefusal(.tooLarge, "entitlements of more than \(SignatureLimits.entitlementBytes) bytes")
        }
        guard blob.count > 8 else { return nil }
        guard let text = bytes.bytes(at: blob.offset + 8, count: Int(blob.count - 8)) else {
            throw ImageRefusal(.truncated, "the entitlements are cut")
        }
        return Entitlements(try PropertyListText.read(text))
    }
}
