// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import SwiftASN1
import X509

/// One subtree of a name constraint (RFC 5280, section 4.2.1.10), in the form in which it is compared.
struct ConstraintSubtree {
    /// The names within the subtree.
    enum Form {
        /// A host and, for DNS names, all below it; only what is below it, where it was written with a leading dot.
        case host([Int], isBelowOnly: Bool)
        /// Addresses: a network, and its mask.
        case range(ArraySlice<UInt8>)
        /// One mailbox.
        case mailbox(local: Int, host: [Int])
        /// Directory names with this beginning.
        case directory([Int?])
        /// A kind that cannot be compared with names. It does not affect a certificate without such a name.
        case undecidable
    }

    /// The kind of names that this constrains.
    let kind: ConstrainedName.Kind

    /// The names within the subtree.
    let form: Form

    /// Reads a subtree.
    ///
    /// - Returns: `nil` for a subtree that cannot be understood: the names that it excludes are not known.
    init?(_ subtree: GeneralName, _ parts: inout NameParts) {
        self.kind = ConstrainedName.Kind(subtree)
        let form: Form? =
            switch subtree {
            case .dnsName(let text), .uniformResourceIdentifier(let text): Self.host(text, &parts)
            case .rfc822Name(let text):
                text.utf8.contains(UInt8(ascii: "@")) ? Self.mailbox(text, &parts) : Self.host(text, &parts)
            case .ipAddress(let range): Self.isRange(Array(range.bytes)) ? .range(range.bytes) : nil
            case .directoryName(let name):
                name.isEmpty || name.contains { $0.isEmpty } ? nil : .directory(parts.steps(of: name))
            default: .undecidable
            }
        guard let form else { return nil }
        self.form = form
    }

    /// The maximum number of parts that a comparison looks at.
    var size: Int {
        switch self.form {
        case .host(let labels, _): labels.count
        case .mailbox(_, let host): host.count + 1
        case .directory(let steps): steps.count
        case .range(let bytes): bytes.count
        case .undecidable: 1
        }
    }

    /// A host name in the usual form: without a trailing dot, an asterisk, a blank or a NUL. A leading dot is malformed
    /// for DNS names and common in private CAs; openssl and webpki read it as we do.
    private static func host(_ text: String, _ parts: inout NameParts) -> Form? {
        let isBelowOnly = text.utf8.first == UInt8(ascii: ".")
        guard let labels = self.labels(isBelowOnly ? text.dropFirst() : text[...], &parts) else { return nil }
        return .host(labels, isBelowOnly: isBelowOnly)
    }

    private static func mailbox(_ text: String, _ parts: inout NameParts) -> Form? {
        let sides = text.split(separator: "@", omittingEmptySubsequences: false)
        guard sides.count == 2, !sides[0].isEmpty, sides[0].utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
            let host = self.labels(sides[1], &parts)
        else { return nil }
        return .mailbox(local: parts.literal(sides[0]), host: host)
    }

    private static func labels(_ text: Substring, _ parts: inout NameParts) -> [Int]? {
        guard text.utf8.last != UInt8(ascii: "."), let host = try? HostName(String(text)), !host.isAddress else {
            return nil
        }
        return parts.labels(of: host.description)
    }

    private static func isRange(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == 8 || bytes.count == 32 else { return false }
        // A mask is ones and then zeros (RFC 4632).
        let mask = bytes.suffix(bytes.count / 2).flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
        return !zip(mask, mask.dropFirst()).contains { $0 == 0 && $1 == 1 }
    }
}
#endif
