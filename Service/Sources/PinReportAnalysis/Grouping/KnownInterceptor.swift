// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A product that opens TLS connections in the middle and shows certificates of its own, known by the name it puts on
/// them. The name is a hint: who attacks can use any, and who configures such a product can change it.
package struct KnownInterceptor: Hashable, Sendable {
    /// The kind of product, for people.
    package enum Category: String, Hashable, Sendable, CaseIterable {
        /// Tools of developers and testers to read an app's traffic.
        case debuggingProxy = "a debugging proxy"
        /// Devices of a company, a school or a provider between its network and the internet.
        case gateway = "a gateway that inspects the traffic of a network"
        /// Software that runs on the device itself.
        case antivirus = "antivirus software or a filter on the device"
    }

    /// The product's name.
    package let name: String
    /// The kind of product.
    package let category: Category
    /// The marks in an issuer's name, in lower case.
    let marks: [String]

    /// The product that a distinguished name names; `nil` when there is none.
    ///
    /// - Parameter name: An issuer's name as ``SeenIssuer`` gives it.
    package static func named(in name: String) -> KnownInterceptor? {
        let text = Array(name.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 })
        return self.all.first { product in product.marks.contains { Self.words($0, standIn: text) } }
    }

    /// Whether words stand in a text, and not as a part of longer words: `ESET` is not in `reset`.
    private static func words(_ words: String, standIn text: [UInt8]) -> Bool {
        let words = Array(words.utf8)
        guard let first = words.first, text.count >= words.count else { return false }
        func isBoundary(_ index: Int) -> Bool {
            guard text.indices.contains(index) else { return true }
            return !(UInt8(ascii: "a")...UInt8(ascii: "z")).contains(text[index]) && text[index] < 0x80
        }
        var start = 0
        while start <= text.count - words.count {
            // Most places are told by their first byte: each report's issuer is looked through for every mark.
            if text[start] == first, text[start..<(start + words.count)].elementsEqual(words), isBoundary(start - 1),
                isBoundary(start + words.count)
            {
                return true
            }
            start += 1
        }
        return false
    }

    /// The table. No certificate authority of the public web has one of these in its name.
    package static let all: [KnownInterceptor] =
        Self.products(
            .debuggingProxy,
            [
                ("mitmproxy", ["mitmproxy"]), ("Charles", ["charles proxy", "xk72 ltd"]),
                ("Burp Suite", ["portswigger"]),
                ("Fiddler", ["fiddlerroot", "fiddler"]), ("Proxyman", ["proxyman"]),
                ("HTTP Toolkit", ["http toolkit"]), ("ZAP", ["zed attack proxy", "owasp root ca"]),
                ("Reqable", ["reqable"]), ("Stream", ["stream generated ca"]),
            ])
        + Self.products(
            .gateway,
            [
                ("Zscaler", ["zscaler"]), ("Netskope", ["netskope", "goskope"]),
                ("Palo Alto Networks", ["palo alto networks", "paloalto"]), ("Fortinet", ["fortinet", "fortigate"]),
                ("Blue Coat", ["blue coat", "bluecoat", "proxysg"]), ("Sophos", ["sophos"]),
                ("Cisco Umbrella", ["cisco umbrella", "opendns"]),
                ("Cisco Secure Web Appliance", ["ironport", "cisco secure web appliance"]),
                ("Check Point", ["check point software", "checkpoint"]), ("Forcepoint", ["forcepoint", "websense"]),
                ("Skyhigh (McAfee) Web Gateway", ["mcafee web gateway", "skyhigh security"]),
                ("Barracuda", ["barracuda"]), ("SonicWall", ["sonicwall"]), ("WatchGuard", ["watchguard"]),
                ("Cato Networks", ["cato networks"]), ("iboss", ["iboss"]), ("Squid", ["squid"]),
                ("Cloudflare Gateway", ["gateway ca - cloudflare", "cloudflare gateway"]),
                ("Lightspeed", ["lightspeed systems", "lightspeed rocket"]), ("Securly", ["securly"]),
                ("Untangle", ["untangle"]), ("Smoothwall", ["smoothwall"]), ("pfSense", ["pfsense"]),
            ])
        + Self.products(
            .antivirus,
            [
                ("Kaspersky", ["kaspersky"]), ("ESET", ["eset"]), ("Avast", ["avast"]), ("AVG", ["avg"]),
                ("Bitdefender", ["bitdefender"]), ("Norton", ["norton"]),
                ("Dr.Web", ["dr.web", "drweb"]), ("AdGuard", ["adguard"]), ("Net Nanny", ["net nanny"]),
                ("Qustodio", ["qustodio"]), ("BullGuard", ["bullguard"]), ("F-Secure", ["f-secure"]),
                ("G DATA", ["g data"]),
            ])

    private static func products(
        _ category: Category, _ products: [(name: String, marks: [String])]
    ) -> [KnownInterceptor] {
        products.map { KnownInterceptor(name: $0.name, category: category, marks: $0.marks) }
    }
}
