// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import SwiftASN1
import X509

/// A name of a certificate, held against one subtree of a name constraint (RFC 5280, section 4.2.1.10).
struct ConstrainedName {
    /// The e-mail address within a distinguished name (PKCS #9).
    static let emailAddress: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 1]

    private let name: GeneralName

    /// Wraps a name.
    init(_ name: GeneralName) { self.name = name }

    /// Whether a subtree constrains names of this kind.
    func isSameKind(as subtree: GeneralName) -> Bool { Self.kind(self.name) == Self.kind(subtree) }

    /// Whether all that this name stands for lies within a subtree; `nil` for kinds that cannot be judged.
    func lies(within subtree: GeneralName) -> Bool? {
        switch (self.name, subtree) {
        case (.dnsName(let name), .dnsName(let subtree)):
            // A wildcard lies within a subtree when its parent does: `*.a.example` has nothing outside `a.example`.
            Self.isName(name.hasPrefix("*.") ? String(name.dropFirst(2)) : name, within: subtree)
        case (.ipAddress(let address), .ipAddress(let subtree)): Self.isAddress(address.bytes, within: subtree.bytes)
        case (.uniformResourceIdentifier(let name), .uniformResourceIdentifier(let subtree)):
            Self.host(ofIdentifier: name).map { Self.isHost($0, within: subtree) }
        case (.rfc822Name(let name), .rfc822Name(let subtree)): Self.isMailbox(name, within: subtree)
        case (.directoryName(let name), .directoryName(let subtree)): Self.isDirectory(name, within: subtree)
        default: nil
        }
    }

    /// Whether something that this name stands for lies within a subtree; `nil` for kinds that cannot be judged.
    func mayLie(within subtree: GeneralName) -> Bool? {
        if case (.dnsName(let name), .dnsName(let excluded)) = (self.name, subtree), name.hasPrefix("*.") {
            let parent = name.dropFirst(2)
            // One label below the parent is what the wildcard can become.
            if let dot = excluded.firstIndex(of: "."), Self.isEqual(excluded[excluded.index(after: dot)...], parent) {
                return true
            }
        }
        return self.lies(within: subtree)
    }

    /// Whether a subtree is of a form that can be held against names. Other kinds than those judged here are left to
    /// the names: a certificate without such a name is not touched by them.
    static func isWellFormed(subtree: GeneralName) -> Bool {
        switch subtree {
        case .ipAddress(let range):
            let bytes = Array(range.bytes)
            guard bytes.count == 8 || bytes.count == 32 else { return false }
            // A mask is ones and then zeros (RFC 4632).
            let mask = bytes.suffix(bytes.count / 2).flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
            return !zip(mask, mask.dropFirst()).contains { $0 == 0 && $1 == 1 }
        case .rfc822Name(let name): return name.utf8.count(where: { $0 == UInt8(ascii: "@") }) <= 1
        default: return true
        }
    }

    private static func kind(_ name: GeneralName) -> Int {
        switch name {
        case .otherName: 0
        case .rfc822Name: 1
        case .dnsName: 2
        case .x400Address: 3
        case .directoryName: 4
        case .ediPartyName: 5
        case .uniformResourceIdentifier: 6
        case .ipAddress: 7
        case .registeredID: 8
        }
    }

    private static func isEqual(_ left: some StringProtocol, _ right: some StringProtocol) -> Bool {
        left.utf8.count == right.utf8.count
            && zip(left.utf8, right.utf8).allSatisfy { left, right in
                let isUpper = { (byte: UInt8) in (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }
                return (isUpper(left) ? left | 0x20 : left) == (isUpper(right) ? right | 0x20 : right)
            }
    }

    private static func isBelow(_ name: some StringProtocol, dotted parent: some StringProtocol) -> Bool {
        name.utf8.count > parent.utf8.count
            && self.isEqual(String(decoding: name.utf8.suffix(parent.utf8.count), as: UTF8.self), parent)
    }

    /// A DNS subtree holds its own name and all below; with a leading dot all below alone; the empty one everything.
    private static func isName(_ name: String, within subtree: String) -> Bool {
        if subtree.isEmpty { return true }
        if subtree.hasPrefix(".") { return self.isBelow(name, dotted: subtree) }
        return self.isEqual(name, subtree) || self.isBelow(name, dotted: ".\(subtree)")
    }

    /// A host subtree of identifiers and mailboxes: with a leading dot all below, else that host alone.
    private static func isHost(_ host: some StringProtocol, within subtree: String) -> Bool {
        subtree.hasPrefix(".") ? self.isBelow(host, dotted: subtree) : self.isEqual(host, subtree)
    }

    private static func isAddress(_ address: ArraySlice<UInt8>, within subtree: ArraySlice<UInt8>) -> Bool? {
        guard address.count == 4 || address.count == 16 else { return nil }
        guard subtree.count == 2 * address.count else { return false }
        return zip(address, zip(subtree, subtree.dropFirst(address.count))).allSatisfy { $0 & $1.1 == $1.0 & $1.1 }
    }

    /// The host of an identifier, or `nil` when it has none that is a name (section 4.2.1.10 refuses those).
    private static func host(ofIdentifier text: String) -> Substring? {
        guard let scheme = text.firstIndex(of: ":"), text[scheme...].hasPrefix("://") else { return nil }
        let authority = text[text.index(scheme, offsetBy: 3)...].prefix { !"/?#".contains($0) }
        let hostStart = authority.lastIndex(of: "@").map { authority.index(after: $0) } ?? authority.startIndex
        let host = authority[hostStart...].prefix { $0 != ":" }
        guard let name = try? HostName(String(host)), !name.isAddress else { return nil }
        return host
    }

    private static func isMailbox(_ name: String, within subtree: String) -> Bool? {
        guard let sign = name.lastIndex(of: "@") else { return nil }
        let host = name[name.index(after: sign)...]
        guard let wanted = subtree.lastIndex(of: "@") else { return self.isHost(host, within: subtree) }
        // The local part is compared to the letter, an asterisk being a letter like others.
        return name[..<sign].utf8.elementsEqual(subtree[..<wanted].utf8)
            && self.isEqual(host, subtree[subtree.index(after: wanted)...])
    }

    private static func isDirectory(_ name: DistinguishedName, within subtree: DistinguishedName) -> Bool? {
        let parts = Array(name)
        let wanted = Array(subtree)
        guard parts.count >= wanted.count else { return false }
        for (part, wanted) in zip(parts, wanted) {
            guard let left = self.comparable(part), let right = self.comparable(wanted) else { return nil }
            guard left == right else { return false }
        }
        return true
    }

    /// The attributes of one step of a name as they are compared: case and runs of blanks do not count (section 7.1).
    /// `nil` for a value that is no text.
    private static func comparable(_ part: RelativeDistinguishedName) -> Set<String>? {
        var texts: Set<String> = []
        for attribute in part {
            guard let value = String(attribute.value) else { return nil }
            let words = value.lowercased().split(whereSeparator: \.isWhitespace)
            texts.insert("\(attribute.type)=\(words.joined(separator: " "))")
        }
        return texts
    }
}
#endif
