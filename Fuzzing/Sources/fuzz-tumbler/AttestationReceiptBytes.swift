// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@_spi(Parsers) import AppAttestation
import CertificatePinning
import Foundation

/// Receipts as a device sends them, and their content alone, which a signature would guard.
enum AttestationReceiptBytes: FuzzTarget {
    static let name = "attestation-receipt"

    static func check(_ bytes: [UInt8]) {
        if let element = try? BERElement.reading(bytes[...]) {
            precondition(bytes.count <= BERElement.maximumLength)
            self.check(element)
        }
        if let receipt = try? Receipt(content: bytes) {
            precondition(receipt.key.x963.count == 65 && (receipt.riskMetric ?? 0) >= 0)
        }
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            // Apple's receipts among the seeds are accepted; what differs in what was signed is not.
            let time = Timestamp(secondsSince1970: 1_606_000_000)
            if let receipt = try? await ReceiptVerifier(appID: nil).verify(bytes, at: time) {
                precondition(receipt.appID == "6MURL8TA57.de.vincent-haupert.apple-appattest-poc")
            }
            done.signal()
        }
        done.wait()
    }

    private static func check(_ element: BERElement) {
        for child in element.children {
            precondition(child.contents.startIndex >= element.contents.startIndex)
            precondition(child.contents.endIndex <= element.contents.endIndex)
            self.check(child)
        }
    }
}
