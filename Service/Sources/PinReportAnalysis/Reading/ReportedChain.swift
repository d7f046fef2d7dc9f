// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// A chain as reports carry it: an array of PEM texts, the leaf first (RFC 7469, section 3).
enum ReportedChain {
    /// The certificates in DER, as many as ``ReportBodyLimits`` keeps.
    ///
    /// The first one that cannot be decoded ends the chain: what follows it would stand in the wrong place, and a wrong
    /// certificate would be taken for the leaf. What the DER says is not looked at here.
    static func read(_ texts: [String]) -> [[UInt8]] {
        var certificates: [[UInt8]] = []
        var bytesLeft = ReportBodyLimits.chainBytes
        for text in texts {
            guard let blocks = try? PEMBlock.blocks(in: text.utf8), !blocks.isEmpty else { return certificates }
            for block in blocks {
                guard block.label == PEMBlock.certificateLabel, block.bytes.count <= bytesLeft,
                    certificates.count < ReportBodyLimits.certificates
                else { return certificates }
                bytesLeft -= block.bytes.count
                certificates.append(block.bytes)
            }
        }
        return certificates
    }

    /// The same certificates as PEM texts.
    static func texts(of certificates: [[UInt8]]) -> [String] {
        certificates.map { PEMBlock(label: PEMBlock.certificateLabel, bytes: $0).text }
    }
}
