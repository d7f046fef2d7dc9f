// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface

/// A chain in a file: PEM, the server's certificate first, or one certificate in DER.
enum ChainFile {
    /// The certificates in DER; `nil` when there is none in it.
    ///
    /// - Throws: ``CommandError`` for PEM that cannot be read.
    static func certificates(in bytes: [UInt8], named path: String) throws(CommandError) -> [[UInt8]]? {
        do throws(InputError) {
            let certificates = try PEMBlock.blocks(in: bytes).filter { $0.label == PEMBlock.certificateLabel }.map(
                \.bytes)
            if !certificates.isEmpty { return certificates }
        } catch {
            throw CommandError(.undecided, "\(path): \(error)")
        }
        // One certificate in DER is a chain of one.
        return (try? CertificateFields(walking: bytes)) == nil ? nil : [bytes]
    }
}
