// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning

/// The written forms of a pin.
enum PinText: FuzzTarget {
    static let name = "pin-text"

    static func check(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        let canonical = try? Pin(canonical: text)
        if let canonical { precondition(canonical.description == text) }
        guard let pin = try? Pin(text) else {
            precondition(canonical == nil)
            return
        }
        precondition((try? Pin(canonical: pin.description)) == pin)
        precondition(canonical == nil || canonical == pin)
        precondition(pin.digest.count == Pin.digestLength)
    }
}
