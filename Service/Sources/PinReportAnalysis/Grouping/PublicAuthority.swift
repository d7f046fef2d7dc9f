// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The names under which the certificate authorities of the public web issue, as a rough guide.
///
/// The chain in a report is not checked here, and a name proves nothing: a root that was installed on a device can have
/// these words in it. Where a caller has a store of roots and pins it knows better, and says so in
/// ``GroupFacts/issuerIsPublicCA``; where it has none, this table tells the common cases apart and the words of
/// ``LikelyCause`` say that it went by the name.
package enum PublicAuthority {
    /// The organisations, as they stand after `O=` of an issuer's name, in lower case: those of Mozilla's root store of
    /// 2026, and of intermediates that have other names.
    static let organisations: Set<String> = [
        "accv", "actalis s.p.a.", "actalis s.p.a./03358520967", "agence nationale de certification electronique",
        "amazon", "amazon trust services", "anf autoridad de certificacion", "apple inc.", "asseco data systems s.a.",
        "atos", "baltimore", "beijing certificate authority", "buypass as-983163327", "certainly", "certigna",
        "certsign sa", "certum", "china financial certification authority", "chunghwa telecom co., ltd.",
        "cloudflare, inc.", "comodo ca limited", "cybertrust japan co., ltd.", "d-trust gmbh",
        "deutsche telekom security gmbh", "dhimyotis", "digicert inc", "digicert ireland limited", "digicert, inc.",
        "disig a.s.", "emsign", "emudhra technologies limited", "entrust limited", "entrust, inc.", "fnmt-rcm",
        "gandi sas", "geant vereniging", "geotrust inc.", "globalsign", "globalsign nv-sa", "godaddy.com, inc.",
        "google trust services", "google trust services llc", "guang dong certificate authority co.,ltd.",
        "hellenic academic and research institutions ca",
        "hellenic academic and research institutions cert. authority", "hongkong post", "identrust",
        "identrust, inc.", "internet security research group", "itruschina co.,ltd.", "izenpe s.a.",
        "krajowa izba rozliczeniowa s.a.", "let's encrypt", "microsec ltd.", "microsoft corporation",
        "naver business platform corp.", "netlock kft.", "network solutions l.l.c.", "oiste foundation",
        "quovadis limited", "rapidssl", "secom trust systems co., ltd.", "secom trust systems co.,ltd.",
        "sectigo limited", "ssl corp", "ssl corporation", "starfield technologies, inc.", "swisssign ag",
        "t-systems enterprise services gmbh", "taiwan-ca", "telia company ab", "telia finland oyj", "thawte, inc.",
        "the usertrust network", "trustasia technologies, inc.", "trustwave holdings, inc.",
        "turkiye bilimsel ve teknolojik arastirma kurumu - tubitak", "unitrust", "unizeto technologies s.a.",
        "verisign, inc.", "viking cloud, inc.", "wisekey", "wotrus ca limited", "zerossl",
    ]

    /// Whether the organisation of a distinguished name is in the table, word by word: `DigiCert Inc`, and not
    /// `CN=DigiCert Inc` or `O=My DigiCert Inc`.
    ///
    /// - Parameter name: An issuer's name as ``SeenIssuer`` gives it.
    package static func isNamed(in name: String) -> Bool {
        self.parts(of: name).contains { part in
            guard part.starts(with: [UInt8(ascii: "o"), UInt8(ascii: "=")]) else { return false }
            return self.organisations.contains(String(decoding: part.dropFirst(2), as: UTF8.self))
        }
    }

    /// The attributes of a name, in lower case, with what was escaped in them as it was.
    private static func parts(of name: String) -> [[UInt8]] {
        var parts: [[UInt8]] = [[]]
        var isEscaped = false
        for byte in name.utf8 {
            let lower = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
            if !isEscaped, byte == UInt8(ascii: "\\") {
                isEscaped = true
                continue
            }
            if !isEscaped, byte == UInt8(ascii: ",") {
                parts.append([])
            } else if byte != UInt8(ascii: " ") || parts[parts.count - 1].isEmpty == false {
                parts[parts.count - 1].append(lower)
            }
            isEscaped = false
        }
        return parts
    }
}
