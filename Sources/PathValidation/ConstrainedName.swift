// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import SwiftASN1
import X509

/// A name of a certificate, in the form in which it is compared with the subtrees of name constraints (RFC 5280,
/// section 4.2.1.10).
struct ConstrainedName {
    /// The kinds of names. A subtree constrains only names of its own kind.
    enum Kind: Int, CaseIterable {
        case other, mail, dns, x400, directory, ediParty, identifier, address, registeredID

        /// The kind of a name.
        init(_ name: GeneralName) {
            self =
                switch name {
                case .otherName: .other
                case .rfc822Name: .mail
                case .dnsName: .dns
                case .x400Address: .x400
                case .directoryName: .directory
                case .ediPartyName: .ediParty
                case .uniformResourceIdentifier: .identifier
                case .ipAddress: .address
                case .registeredID: .registeredID
                }
        }
    }

    /// The e-mail address within a distinguished name (PKCS #9).
    static let emailAddress: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 1]

    /// A name as it is compared; labels of hosts with the last one first.
    private enum Form {
        case name([Int])
        /// A wildcard: all names with one label more than these.
        case wildcard([Int])
        case address(ArraySlice<UInt8>)
        case host([Int])
        case mailbox(local: Int, host: [Int])
        case directory([Int?])
        case undecidable
    }

    /// The kind of name.
    let kind: Kind

    private let form: Form

    /// Reads a name. A name of a kind or form that cannot be compared is refused where it is constrained.
    init(_ name: GeneralName, _ parts: inout NameParts) {
        self.kind = Kind(name)
        self.form =
            switch name {
            case .dnsName(let text):
                text.utf8.starts(with: "*.".utf8)
                    ? .wildcard(parts.labels(of: text.dropFirst(2))) : .name(parts.labels(of: text))
            case .ipAddress(let address):
                address.bytes.count == 4 || address.bytes.count == 16 ? .address(address.bytes) : .undecidable
            case .uniformResourceIdentifier(let text):
                Self.host(ofIdentifier: text).map { .host(parts.labels(of: $0)) } ?? .undecidable
            case .rfc822Name(let text): Self.mailbox(text, &parts)
            case .directoryName(let name): .directory(parts.steps(of: name))
            default: .undecidable
            }
    }

    /// The maximum number of parts that a comparison looks at.
    var size: Int {
        switch self.form {
        case .name(let labels), .wildcard(let labels), .host(let labels): labels.count + 1
        case .mailbox(_, let host): host.count + 1
        case .directory(let steps): steps.count
        case .address(let bytes): bytes.count
        case .undecidable: 1
        }
    }

    /// Whether every host or name that this covers lies within a subtree of its kind; `nil` for names that cannot be
    /// compared.
    func lies(within subtree: ConstraintSubtree) -> Bool? {
        switch (self.form, subtree.form) {
        case (.name(let labels), .host(let parent, let isBelowOnly)):
            // Its own name and all below; with a leading dot all below alone.
            labels.starts(with: parent) && (!isBelowOnly || labels.count > parent.count)
        case (.wildcard(let labels), .host(let parent, _)):
            // `*.a.example` has nothing outside `a.example`, and all of it is below that.
            labels.starts(with: parent)
        case (.host(let host), .host(let wanted, let isBelowOnly)):
            Self.isHost(host, within: wanted, isBelowOnly)
        case (.mailbox(_, let host), .host(let wanted, let isBelowOnly)):
            Self.isHost(host, within: wanted, isBelowOnly)
        case (.mailbox(let local, let host), .mailbox(let wantedLocal, let wantedHost)):
            local == wantedLocal && host == wantedHost
        case (.address(let address), .range(let range)): Self.isAddress(address, within: range)
        case (.directory(let steps), .directory(let wanted)): Self.isDirectory(steps, within: wanted)
        default: nil
        }
    }

    /// Whether some host or name that this covers lies within a subtree of its kind; `nil` for names that cannot be
    /// compared.
    func mayLie(within subtree: ConstraintSubtree) -> Bool? {
        if case .wildcard(let labels) = self.form, case .host(let excluded, false) = subtree.form,
            excluded.count == labels.count + 1, excluded.starts(with: labels)
        {
            // The wildcard covers one label below the parent.
            return true
        }
        return self.lies(within: subtree)
    }

    /// A host subtree of identifiers and mailboxes: with a leading dot all below, else that host alone.
    private static func isHost(_ host: [Int], within wanted: [Int], _ isBelowOnly: Bool) -> Bool {
        isBelowOnly ? host.count > wanted.count && host.starts(with: wanted) : host == wanted
    }

    private static func isAddress(_ address: ArraySlice<UInt8>, within range: ArraySlice<UInt8>) -> Bool {
        guard range.count == 2 * address.count else { return false }
        return zip(address, zip(range, range.dropFirst(address.count))).allSatisfy { $0 & $1.1 == $1.0 & $1.1 }
    }

    private static func isDirectory(_ steps: [Int?], within wanted: [Int?]) -> Bool? {
        guard steps.count >= wanted.count else { return false }
        for (step, wanted) in zip(steps, wanted) {
            guard let step, let wanted else { return nil }
            guard step == wanted else { return false }
        }
        return true
    }

    /// The host of an identifier, or `nil` when it has none that is a name (section 4.2.1.10 refuses those).
    private static func host(ofIdentifier text: String) -> String? {
        guard let scheme = text.firstIndex(of: ":"), text[scheme...].hasPrefix("://") else { return nil }
        let authority = text[text.index(scheme, offsetBy: 3)...].prefix { !"/?#".contains($0) }
        let hostStart = authority.lastIndex(of: "@").map { authority.index(after: $0) } ?? authority.startIndex
        let host = authority[hostStart...].prefix { $0 != ":" }
        guard let name = try? HostName(String(host)), !name.isAddress else { return nil }
        return name.description
    }

    /// The local part is compared exactly; an asterisk in it is an ordinary character.
    private static func mailbox(_ text: String, _ parts: inout NameParts) -> Form {
        guard let sign = text.lastIndex(of: "@") else { return .undecidable }
        return .mailbox(
            local: parts.literal(text[..<sign]), host: parts.labels(of: text[text.index(after: sign)...]))
    }
}
#endif
