// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
@_spi(Adapters) import PinListClient

/// The target of a request: what we read in a URL must be what Foundation reads, or nothing.
enum RequestTargetText: FuzzTarget {
    static let name = "request-target"

    static func check(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let target = RequestTarget(text) else { return }
        precondition((1...65_535).contains(target.port) && !target.host.isEmpty)
        precondition(!target.host.utf8.contains { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "@") })
        // Invalid hosts are refused by the normaliser; of the others Foundation must read the same.
        guard let name = try? HostName(target.host), let components = URLComponents(string: text),
            let host = components.encodedHost
        else { return }
        precondition((try? HostName(host)) == name, "\(target.host) is \(host) to Foundation")
        precondition(components.port == nil || components.port == target.port)
    }
}
