// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// An address in a literal: whether it goes without TLS to a host that is neither this machine nor made up.
struct WebAddress {
    /// The scheme, lower case.
    let scheme: String
    /// The host, lower case, without brackets; empty where the literal ends before one.
    let host: String

    /// Reads the beginning of a literal; `nil` where it is no address with a scheme that is asked for.
    init?(_ literal: some StringProtocol) {
        guard let range = literal.firstRange(of: "://") else { return nil }
        let scheme = literal[..<range.lowerBound].lowercased()
        guard ["http", "https", "ws", "wss"].contains(scheme) else { return nil }
        self.scheme = scheme
        let authority = literal[range.upperBound...].prefix { !"/?#\"\\ ".contains($0) }
        let afterUser = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        if afterUser.first == "[" {
            self.host = afterUser.dropFirst().prefix { $0 != "]" }.lowercased()
        } else {
            self.host = afterUser.prefix { $0 != ":" }.lowercased()
        }
    }

    /// Without TLS.
    var isCleartext: Bool { self.scheme == "http" || self.scheme == "ws" }

    /// This machine.
    var isLoopback: Bool {
        self.host == "localhost" || self.host.hasSuffix(".localhost") || self.host.hasPrefix("127.")
            || self.host == "::1" || self.host == "0.0.0.0" || self.host == "::" || self.host == "10.0.2.2"
    }

    /// Reserved for documentation and tests (RFC 2606, RFC 6761, RFC 5737, RFC 3849).
    var isDocumentation: Bool {
        let labels = self.host.split(separator: ".")
        let names: Set<Substring> = ["example", "test", "invalid"]
        if let last = labels.last, names.contains(last) { return true }
        if labels.count >= 2, labels[labels.count - 2] == "example",
            ["com", "org", "net"].contains(labels[labels.count - 1])
        {
            return true
        }
        return ["192.0.2.", "198.51.100.", "203.0.113.", "2001:db8"].contains { self.host.hasPrefix($0) }
    }

    /// The name of an XML namespace, a document type or a licence: an address that nothing is loaded from.
    var isNamespace: Bool {
        let roots = [
            "w3.org", "schemas.android.com", "schemas.xmlsoap.org", "schemas.microsoft.com",
            "schemas.openxmlformats.org",
            "ns.adobe.com", "purl.org", "xmlpull.org", "xml.org", "json-schema.org", "schema.org", "ogp.me", "iptc.org",
            "ietf.org", "oasis-open.org", "openoffice.org", "jabber.org", "etherx.jabber.org", "apache.org",
            "creativecommons.org", "xmlns.com", "sqlite.org", "unicode.org", "opensource.org", "gnu.org", "mozilla.org",
            "relaxng.org", "xspf.org", "rssboard.org", "aiim.org", "npes.org", "xsd.w3.org", "opengis.net",
            "topografix.com",
            "garmin.com", "openid.net", "specs.openid.net", "java.sun.com", "xmlns.oracle.com", "docbook.org",
            "ecma-international.org",
        ]
        return roots.contains { self.host == $0 || self.host.hasSuffix(".\($0)") } || self.host.hasPrefix("schemas.")
    }

    /// Whether it is worth a line.
    func isSuspicious(in literal: some StringProtocol) -> Bool {
        guard self.isCleartext, !self.host.isEmpty, self.host.contains(".") || self.host.contains(":") else {
            return false
        }
        // A pattern, a list of prefixes, a format.
        guard self.host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !Array("*<>{}()|^$%,;'".utf8).contains($0) }) else {
            return false
        }
        if self.isLoopback || self.isDocumentation || self.isNamespace { return false }
        if literal.contains("/DTDs/") || literal.contains(".dtd") || literal.contains(".xsd") { return false }
        return true
    }
}

/// Hosts and pins in literals.
enum LiteralText {
    /// A name that could be a host: labels with a dot, the last one of letters.
    static func isHost(_ text: String) -> Bool {
        guard text.utf8.count <= 253, text.contains("."), !text.hasSuffix("."), !text.contains(" "),
            let host = try? HostName(text.hasPrefix("*.") ? String(text.dropFirst(2)) : text), !host.isAddress
        else { return false }
        let last = host.description.split(separator: ".").last ?? ""
        return last.count >= 2 && last.allSatisfy(\.isLetter)
    }

    /// The boolean that an expression of Swift or Objective-C is, by its words; `nil` where only the running app knows.
    static func boolean(_ words: [String]) -> Bool? {
        let wrapping: Set<String> = [
            "Any", "AnyObject", "Bool", "CFBoolean", "NSNumber", "NSString", "String", "__bridge", "as",
            "booleanLiteral", "id", "init", "integerLiteral", "numberWithBool", "numberWithInt", "numberWithInteger",
            "value",
        ]
        let others = words.filter { !wrapping.contains($0) }
        guard others.count == 1 else { return nil }
        switch others[0].lowercased() {
        case "kcfbooleantrue", "true", "yes", "1": return true
        case "kcfbooleanfalse", "false", "no", "0": return false
        default: return nil
        }
    }

    /// The 32 bytes of a SHA-256 in Base64 or hexadecimal, with the prefixes that pins have.
    static func digest(_ text: String) -> (bytes: [UInt8], hasPrefix: Bool)? {
        var text = Substring(text)
        var hasPrefix = false
        for prefix in ["sha256/", "sha-256/", "pin-sha256=", "SHA256:"] where text.hasPrefix(prefix) {
            text = text.dropFirst(prefix.count)
            hasPrefix = true
        }
        // curl writes sha256//; a slash may be the first of 44 characters, too.
        if hasPrefix, text.utf8.count == 45, text.first == "/" { text = text.dropFirst() }
        if text.utf8.count == 44, text.hasSuffix("="), let bytes = Base64.decode(text.utf8), bytes.count == 32 {
            return (bytes, hasPrefix)
        }
        // openssl writes a colon between two bytes.
        guard text.utf8.count == 64 || text.utf8.count == 95 else { return nil }
        let digits = text.utf8.filter { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: " ") }
        let nibbles = digits.compactMap(Self.nibble)
        guard digits.count == 64, nibbles.count == 64 else { return nil }
        return (stride(from: 0, to: 64, by: 2).map { nibbles[$0] << 4 | nibbles[$0 + 1] }, hasPrefix)
    }

    /// The value of a hexadecimal digit.
    private static func nibble(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// Whether a name speaks of pins: `pinnedHashes`, `spkiSHA256`, `kTSKPublicKeyHashes`.
    static func speaksOfPins(_ name: String) -> Bool {
        let lower = name.lowercased()
        if ["spki", "publickeyhash", "certificatehash", "certhash", "fingerprint", "sslpin", "tlspin", "keyhash"]
            .contains(where: { lower.has($0) })
        {
            return true
        }
        let speaks =
            lower == "pin" || lower == "pins" || lower.hasPrefix("pinned") || Self.speaksOfPinning(name, lower)
            || name.has("Pin(") || name.hasSuffix("Pin") || name.hasSuffix("Pins") || name.hasSuffix("Pinned")
            || name.hasPrefix("pin") && name.dropFirst(3).first?.isUppercase == true
            || name.has("PinSHA") || lower.has("pinset")
            || lower.has("backuppin")
        return speaks && !Self.speaksOfPINCode(name)
    }

    /// Whether a name speaks of a PIN that a person enters: `pinCodeHash`, `pinSalt`, `userPin`. A pin of a service for users
    /// or cards, such as `cardServicePin`, is none.
    private static func speaksOfPINCode(_ name: String) -> Bool {
        let words = Self.words(of: name)
        guard let place = words.firstIndex(of: "pin") else { return false }
        let before = place > 0 ? words[place - 1] : ""
        if ["card", "entered", "keypad", "setup", "unlock", "user"].contains(before) { return true }
        return !Set(words[place...]).isDisjoint(with: [
            "code", "entry", "iterations", "iv", "keypad", "length", "pepper", "salt", "settings", "setup", "unlock",
        ])
    }

    /// Whether a name speaks of pinning, and not of what is spinning.
    private static func speaksOfPinning(_ name: String, _ lower: String) -> Bool {
        lower.has("pinning") && Self.words(of: name).contains { $0.has("pinning") && !$0.hasPrefix("spinning") }
    }

    /// The words of a name in lower case: `pinCodeHash` and `PINCode_hash` have `pin`, `code` and `hash`.
    private static func words(of name: String) -> [String] {
        let letters = Array(name)
        var words = [""]
        for (index, letter) in letters.enumerated() {
            guard letter.isLetter || letter.isNumber else {
                words.append("")
                continue
            }
            let isAfterSmall = index > 0 && !letters[index - 1].isUppercase
            let isBeforeSmall = index + 1 < letters.count && letters[index + 1].isLowercase
            if letter.isUppercase, isAfterSmall || isBeforeSmall { words.append("") }
            words[words.count - 1] += letter.lowercased()
        }
        return words
    }

    /// The type of what a verify block completes with: it says nothing of what the block does.
    static let verifyCompletion = "sec_protocol_verify_complete_t"

    /// Whether a name speaks of a decision about a certificate: `SecTrustEvaluateWithError`, `validatePins`.
    static func speaksOfEvaluation(_ name: String) -> Bool {
        let lower = name.lowercased()
        if ["evaluat", "verif", "trustkit", "pinned"].contains(where: { lower.has($0) }) { return true }
        // A session or a timer that is invalidated says nothing of a certificate.
        return lower.has("validat")
            && Self.words(of: name).contains { $0.has("validat") && !$0.hasPrefix("invalidat") }
            || Self.speaksOfPinning(name, lower)
    }

    /// Whether a name speaks of a decision that is not the system's alone: `validatePins`, and the anchors that may vouch.
    static func speaksOfOwnEvaluation(_ name: String) -> Bool {
        if name.hasPrefix("SecTrustSetAnchorCertificates") || Self.speaksOfPins(name) { return true }
        return Self.speaksOfEvaluation(name) && !name.hasPrefix("SecTrust") && !name.hasPrefix("kSecTrust")
    }

    /// Whether a name speaks of looking at a key or a certificate: code that pins by itself.
    static func looksAtKeys(_ name: String) -> Bool {
        let lower = name.lowercased()
        if Self.speaksOfPinning(name, lower) { return true }
        return [
            "seccertificatecopykey", "seccertificatecopydata", "seckeycopyexternalrepresentation", "sectrustcopykey",
            "sectrustcopypublickey", "sectrustgetcertificateatindex", "sectrustcopycertificatechain", "trustkit",
            "tskpinningvalidator", "pinned", "servertrustmanager", "servertrustevaluat", "securitypolicy",
        ].contains { lower.has($0) }
    }
}

extension String {
    /// Whether an ASCII text stands in it. Names are asked this a dozen times each, and the standard library's search of
    /// collections prepares a table for each question.
    func has(_ part: String) -> Bool {
        var (text, part) = (self, part)
        return text.withUTF8 { text in
            part.withUTF8 { part in
                guard let first = part.first, part.count <= text.count else { return part.isEmpty }
                for start in 0...(text.count - part.count) where text[start] == first {
                    if text[start..<(start + part.count)].elementsEqual(part) { return true }
                }
                return false
            }
        }
    }
}
