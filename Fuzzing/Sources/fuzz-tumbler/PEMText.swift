// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning

/// PEM as people have it.
enum PEMText: FuzzTarget {
    static let name = "pem"

    static func check(_ bytes: [UInt8]) {
        guard let blocks = try? PEMBlock.blocks(in: bytes) else { return }
        // The written form is read again as the same. A label is from the text, so it may hold anything but line ends.
        let text = blocks.map(\.text).joined()
        precondition((try? PEMBlock.blocks(in: text.utf8))?.map(\.bytes) == blocks.map(\.bytes))
    }
}
