// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import HTTPTypes

/// The source of a request, as far as its address can be believed.
package struct RequestSource: Sendable {
    /// The proxies whose fields about others are believed.
    let trustedProxies: [NetworkRange]
    /// Caches that ask for many.
    let edges: [NetworkRange]

    /// The maximum number of elements of `X-Forwarded-For` or `Forwarded` that are looked at, from its end.
    static let maximumElements = 16

    /// States whom to believe.
    package init(trustedProxies: [NetworkRange], edges: [NetworkRange]) {
        self.trustedProxies = trustedProxies
        self.edges = edges
    }

    /// The address of the client: the peer's, or, behind proxies that are trusted, the last one in `X-Forwarded-For` or
    /// `Forwarded` (RFC 7239) that is not one of theirs. A client can have written every address before it, and the
    /// whole of a field that the proxy does not write: where both fields are there and differ, neither is believed.
    package func address(forwardedFor: String?, forwarded: String? = nil, peer: IPAddress?) -> IPAddress? {
        guard let peer, self.trustedProxies.contains(peer) else { return peer }
        let told = [
            forwardedFor.map {
                Array($0.utf8).split(separator: UInt8(ascii: ",")).suffix(Self.maximumElements).map { Self.node($0) }
            },
            forwarded.map { Self.nodes($0).suffix(Self.maximumElements) },
        ].compactMap { $0.map { self.client($0, peer: peer) } }
        guard let first = told.first, told.allSatisfy({ $0 == first }) else { return peer }
        return first
    }

    /// The address of the client, by the header fields of a request.
    func address(_ fields: HTTPFields, peer: IPAddress?) -> IPAddress? {
        self.address(forwardedFor: fields[.xForwardedFor], forwarded: fields[.forwarded], peer: peer)
    }

    private func client(_ nodes: some BidirectionalCollection<IPAddress?>, peer: IPAddress) -> IPAddress {
        for node in nodes.reversed() {
            guard let node else { return peer }
            if !self.trustedProxies.contains(node) { return node }
        }
        return peer
    }

    /// RFC 7239, section 6: an address, with brackets and a port or without; `nil` for `unknown` and for made-up names.
    private static func node(_ text: ArraySlice<UInt8>) -> IPAddress? {
        var address = text.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }[...]
        if address.first == UInt8(ascii: "[") {
            address = address.dropFirst().prefix { $0 != UInt8(ascii: "]") }
        } else if address.count(where: { $0 == UInt8(ascii: ":") }) == 1 {
            address = address.prefix { $0 != UInt8(ascii: ":") }
        }
        return IPAddress(text: String(decoding: address, as: UTF8.self))
    }

    /// RFC 7239, section 4: what each element of `Forwarded` says in its `for`. Where a quoted string has no end, it may be the
    /// client's, with what the proxy wrote within: then no element says anything.
    private static func nodes(_ field: String) -> [IPAddress?] {
        guard field.utf8.count(where: { $0 == Self.quote }).isMultiple(of: 2) else { return [nil] }
        return Self.split(Array(field.utf8)[...], at: UInt8(ascii: ",")).map { element in
            for pair in Self.split(element, at: UInt8(ascii: ";")) {
                let sides = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                guard sides.count == 2, Self.unspaced(sides[0]).lowercased() == "for" else { continue }
                return Self.node(sides[1].filter { $0 != Self.quote }[...])
            }
            return nil
        }
    }

    private static let quote = UInt8(ascii: "\"")

    private static func unspaced(_ text: ArraySlice<UInt8>) -> String {
        String(decoding: text.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }, as: UTF8.self)
    }

    /// The parts between separators that stand in no quoted string.
    private static func split(_ text: ArraySlice<UInt8>, at separator: UInt8) -> [ArraySlice<UInt8>] {
        var isQuoted = false
        return text.split(omittingEmptySubsequences: false) { byte in
            if byte == Self.quote { isQuoted.toggle() }
            return byte == separator && !isQuoted
        }
    }

    /// Whether a cache asks, for as many as it likes: it says so, or is known to be one.
    func isEdge(_ fields: HTTPFields, peer: IPAddress?) -> Bool {
        if fields[.via] != nil || fields[.forwarded] != nil { return true }
        return !self.edges.isEmpty && peer.map { self.edges.contains($0) } == true
    }

    /// Whether a header field says that a proxy forwarded the request.
    static func isForwarded(_ fields: HTTPFields) -> Bool {
        fields.contains { field in
            let name = field.name.canonicalName
            return name == "forwarded" || name.hasPrefix("x-forwarded-")
        }
    }
}

extension HTTPField.Name {
    /// RFC 7239.
    static let forwarded = Self.known("Forwarded")
    /// The field that proxies wrote before RFC 7239, and still write.
    static let xForwardedFor = Self.known("X-Forwarded-For")
    /// RFC 9110, section 7.6.3.
    static let via = Self.known("Via")
    /// W3C's Referrer Policy.
    static let referrerPolicy = Self.known("Referrer-Policy")
    /// The Fetch standard's.
    static let secFetchSite = Self.known("Sec-Fetch-Site")

    private static func known(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .from }
}
