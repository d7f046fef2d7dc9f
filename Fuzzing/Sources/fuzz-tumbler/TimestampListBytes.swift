// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@_spi(Tools) import CertificateTransparency

/// Signed certificate timestamps as a certificate has them. What is read is written again, and must be the same bytes.
enum TimestampListBytes: FuzzTarget {
    static let name = "timestamp-list"

    static func check(_ bytes: [UInt8]) {
        guard let readings = try? SignedCertificateTimestamp.readList(bytes) else { return }
        precondition(!readings.isEmpty && readings.count <= SignedCertificateTimestamp.maximumCount)
        var written: [UInt8] = []
        for reading in readings {
            // Of the others the bytes are not kept.
            guard case .timestamp(let timestamp) = reading else { return }
            let signed = timestamp.signedBytes(over: [])
            precondition(signed.count == 12 + timestamp.extensions.count)
            written += self.vector(
                [0] + timestamp.log.bytes + signed[2..<10] + self.vector(timestamp.extensions) + timestamp.algorithm
                    + self.vector(timestamp.signature))
        }
        precondition(self.vector(written) == bytes)
    }

    private static func vector(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(truncatingIfNeeded: bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)] + bytes
    }
}
