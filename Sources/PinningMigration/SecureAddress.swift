// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// Where reports may go, as far as it can be said without a list: `https`, a host, and nothing that some parser reads
/// otherwise. The rule of lists (formats.md, section 3.2) is the same, and allows loopback addresses besides.
enum SecureAddress {
    /// Whether a text is such an address.
    static func isAllowed(_ text: String) -> Bool {
        let refused = Set("\"<>\\^`{|}#".utf8)
        guard text.utf8.count <= 2_048, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !refused.contains($0) }),
            text.lowercased().hasPrefix("https://")
        else { return false }
        let authority = text.dropFirst(8).prefix { $0 != "/" && $0 != "?" }
        guard !authority.contains("@") else { return false }
        let bracket = authority.hasPrefix("[") ? authority.firstIndex(of: "]") : nil
        let end = bracket.map { authority.index(after: $0) } ?? authority.firstIndex(of: ":") ?? authority.endIndex
        guard (try? HostName(String(authority[..<end]))) != nil else { return false }
        let rest = authority[end...]
        guard let colon = rest.first else { return true }
        let digits = rest.dropFirst()
        return colon == ":" && digits.count <= 5 && digits.allSatisfy { ("0"..."9").contains($0) }
            && (UInt16(digits) ?? 0) > 0
    }
}
