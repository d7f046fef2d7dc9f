// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import TestData
import Testing

/// Certificates that other projects keep, against openssl.
@Suite(
    "Certificates of TrustKit and of Mozilla's root store",
    .enabled(if: OpenSSL.installed != nil, "there is no openssl on PATH to compare with"))
struct KnownCertificatesTests {
    @Test(
        "TrustKit's own test certificates: RSA 2048, 3072, 4096, P-256, P-384",
        .enabled(if: SharedData.holds(SharedData.trustKit), "there is no ../shared/data/trustkit beside the checkout"))
    func trustKitsOwnTestCertificatesRSA204830724096P256P384() async throws {
        let openssl = try #require(OpenSSL.installed)
        let folder = FileManager.default.enumerator(at: SharedData.trustKit, includingPropertiesForKeys: nil)
        let files = try #require(folder).allObjects.compactMap { $0 as? URL }
            .filter { ["der", "pem"].contains($0.pathExtension) }
            .sorted { $0.path < $1.path }
        #expect(files.count == 12)
        let expected = try await withTemporaryFolder { try await openssl.pins(of: files, in: $0) }
        for (file, expected) in zip(files, expected) {
            let data = [UInt8](try Data(contentsOf: file))
            let certificate =
                file.pathExtension == "der"
                ? data : try #require(PEMBlock.blocks(in: data).first { $0.label == "CERTIFICATE" }).bytes
            #expect(try Pin(publicKeyOf: certificate).description == "sha256/" + expected, "\(file.lastPathComponent)")
        }
    }

    @Test(
        "every root that Mozilla trusts",
        .enabled(if: SharedData.holds(SharedData.mozillaRoots), "there is no ../shared/data/roots beside the checkout"))
    func everyRootThatMozillaTrusts() async throws {
        let openssl = try #require(OpenSSL.installed)
        let text = try Data(contentsOf: SharedData.mozillaRoots)
        let blocks = try PEMBlock.blocks(in: text)
        let beginLines = String(decoding: text, as: UTF8.self).split(separator: "\n")
            .filter { $0 == "-----BEGIN CERTIFICATE-----" }
        #expect(blocks.count == beginLines.count)
        #expect(blocks.count > 100)
        let expected = try await withTemporaryFolder { folder in
            let files = blocks.indices.map { folder.appendingPathComponent("root-\($0).der") }
            for (file, block) in zip(files, blocks) { try Data(block.bytes).write(to: file) }
            return try await openssl.pins(of: files, in: folder)
        }
        for (block, expected) in zip(blocks, expected) {
            #expect(block.label == "CERTIFICATE")
            #expect(try Pin(publicKeyOf: block.bytes).description == "sha256/" + expected)
        }
    }
}
