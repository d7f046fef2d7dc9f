// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// The host of an `https` address, as far as rules need it.
enum WebAddress {
    /// The host, or `nil` where there is none.
    static func host(of address: String) -> HostName? {
        guard let scheme = address.range(of: "://") else { return nil }
        let authority = address[scheme.upperBound...].prefix { !"/?#".contains($0) }
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            return try? HostName(String(authority[...end]))
        }
        return try? HostName(String(authority.prefix { $0 != ":" }))
    }
}

extension StringProtocol {
    /// The range of the first occurrence of a text, byte by byte.
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = self.startIndex
        while start < self.endIndex {
            if self[start...].hasPrefix(text) {
                return start..<(self.index(start, offsetBy: text.count))
            }
            start = self.index(after: start)
        }
        return nil
    }
}
