// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// Property lists as text.
enum PropertyListText {
    private static let head = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        """

    /// `TSKConfiguration`, to be merged into an Info.plist or given to TrustKit in code.
    static func trustKit(_ entries: [OutgoingEntry]) -> String {
        var domains: [String] = []
        for outgoing in entries {
            let entry = outgoing.entry
            var members: [String] = []
            if outgoing.isCarveOut {
                members.append(contentsOf: self.flag("TSKExcludeSubdomainFromParentPolicy", true))
            } else {
                members += self.flag("TSKDisableDefaultReportUri", true)
                members += self.flag("TSKEnforcePinning", entry.mode == .enforce)
                if let day = outgoing.lastDay {
                    members += ["<key>TSKExpirationDate</key>", "<string>\(day)</string>"]
                }
            }
            if entry.includeSubdomains { members += self.flag("TSKIncludeSubdomains", true) }
            if !outgoing.isCarveOut {
                members += self.array("TSKPublicKeyHashes", outgoing.digests.map { "<string>\($0)</string>" })
            }
            if !entry.reportTo.isEmpty {
                members += self.array("TSKReportUris", entry.reportTo.map { "<string>\(XMLText.escaped($0))</string>" })
            }
            domains += self.table(entry.domain.description, members)
        }
        let configuration = self.table("TSKPinnedDomains", domains) + self.flag("TSKSwizzleNetworkDelegates", false)
        return self.document(self.table("TSKConfiguration", configuration))
    }

    /// `NSAppTransportSecurity` with `NSPinnedDomains`, to be merged into an Info.plist.
    static func pinnedDomains(_ entries: [OutgoingEntry]) -> String {
        var domains: [String] = []
        for outgoing in entries {
            var members: [String] = []
            if outgoing.entry.includeSubdomains { members += self.flag("NSIncludesSubdomains", true) }
            for (key, position) in [("NSPinnedCAIdentities", true), ("NSPinnedLeafIdentities", false)] {
                let digests = outgoing.digests { ($0 == .issuer) == position }
                guard !digests.isEmpty else { continue }
                members += self.array(
                    key,
                    digests.flatMap {
                        ["<dict>", "\t<key>SPKI-SHA256-BASE64</key>", "\t<string>\($0)</string>", "</dict>"]
                    })
            }
            domains += self.table(outgoing.entry.domain.description, members)
        }
        return self.document(self.table("NSAppTransportSecurity", self.table("NSPinnedDomains", domains)))
    }

    private static func document(_ members: [String]) -> String {
        ([self.head, "<dict>"] + self.indented(members) + ["</dict>", "</plist>", ""]).joined(separator: "\n")
    }

    private static func flag(_ key: String, _ value: Bool) -> [String] {
        ["<key>\(key)</key>", value ? "<true/>" : "<false/>"]
    }

    private static func array(_ key: String, _ values: [String]) -> [String] {
        ["<key>\(key)</key>", "<array>"] + self.indented(values) + ["</array>"]
    }

    private static func table(_ key: String, _ members: [String]) -> [String] {
        ["<key>\(XMLText.escaped(key))</key>", "<dict>"] + self.indented(members) + ["</dict>"]
    }

    private static func indented(_ lines: [String]) -> [String] { lines.map { "\t" + $0 } }
}

/// Text within XML.
enum XMLText {
    /// Escapes a text for XML.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
