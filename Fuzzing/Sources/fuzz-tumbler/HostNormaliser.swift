// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning

/// The host normaliser, and the index that is asked with what it gives.
enum HostNormaliser: FuzzTarget {
    static let name = "host-name"

    private static let policy: PinningPolicy? = {
        guard let parent = try? HostName("example.com") else { return nil }
        return try? PinningPolicy(domains: [PinnedDomain(parent, includeSubdomains: true, pins: [])])
    }()

    static func check(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let host = try? HostName(text) else { return }
        // Normal once and for all, and one entry however it is written.
        precondition((try? HostName(host.description)) == host)
        precondition((try? HostName(host.description.uppercased())) == host)
        precondition(host.isAddress == (IPAddress(host) != nil))
        if !host.isAddress {
            precondition((try? HostName(host.description + ".")) == host)
            precondition(host.description.utf8.count <= HostName.maximumLength)
        }
        let isBelow = host.description == "example.com" || host.description.hasSuffix(".example.com")
        precondition((self.policy?.entry(for: host) != nil) == isBelow)
    }
}
