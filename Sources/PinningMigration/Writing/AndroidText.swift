// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// Android's network security configuration as text.
enum AndroidText {
    /// `res/xml/network_security_config.xml`.
    static func configuration(_ entries: [OutgoingEntry]) -> String {
        var lines = ["<?xml version=\"1.0\" encoding=\"utf-8\"?>", "<network-security-config>"]
        for outgoing in entries {
            let entry = outgoing.entry
            lines.append("    <domain-config>")
            lines.append("        <domain includeSubdomains=\"\(entry.includeSubdomains)\">\(entry.domain)</domain>")
            if !outgoing.isCarveOut {
                let expiration = outgoing.lastDay.map { " expiration=\"\($0)\"" } ?? ""
                lines.append("        <pin-set\(expiration)>")
                lines += outgoing.digests.map { "            <pin digest=\"SHA-256\">\($0)</pin>" }
                lines.append("        </pin-set>")
            }
            lines.append("    </domain-config>")
        }
        return (lines + ["</network-security-config>", ""]).joined(separator: "\n")
    }
}
