// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import CertificatePinning
import CommandLineInterface
import Foundation
import PinListMetadata
import PinListRepository

/// Rules on which hosts are asked through a proxy: `--proxy`, `HTTPS_PROXY`, `NO_PROXY` and their like, read as curl
/// reads them (curl(1), "ENVIRONMENT").
///
/// There is one difference: this machine itself is asked through a proxy with `--proxy` alone, because a proxy elsewhere
/// has another loopback.
struct ProxyRules: Sendable {
    /// A proxy that is told `CONNECT` (RFC 9110, section 9.3.6).
    struct Proxy: Hashable, Sendable {
        /// Its host.
        var host: String
        /// Its port.
        var port: Int
        /// `NAME:PASSWORD`, where the address has one.
        var credentials: String?

        /// The proxy as AsyncHTTPClient has it.
        var configuration: HTTPClient.Configuration.Proxy {
            .server(
                host: self.host, port: self.port,
                authorization: self.credentials.map {
                    .basic(credentials: Data($0.utf8).base64EncodedString())
                })
        }
    }

    /// The error of a text that names no proxy that can be used.
    struct ProxyError: Error {
        /// The sentence. The text is not repeated: a password may be in it.
        let reason: String
    }

    /// curl's port of a proxy that is written without one.
    private static let defaultPort = 1_080

    private let forTLS: Proxy?
    private let forCleartext: Proxy?
    private let isAsked: Bool
    private let exemptions: ProxyExemptions

    /// The proxies that are configured and cannot be used, one sentence each.
    let unused: [String]

    /// No proxy.
    static let none = ProxyRules()

    private init() {
        (self.forTLS, self.forCleartext, self.isAsked) = (nil, nil, false)
        (self.exemptions, self.unused) = (ProxyExemptions(""), [])
    }

    /// Reads the rules.
    ///
    /// - Parameters:
    ///   - option: `--proxy`; empty for none at all, as with curl.
    ///   - environment: The environment of the process.
    /// - Throws: ``ProxyError`` for an option that names none.
    init(option: String?, environment: [String: String]) throws(ProxyError) {
        func value(_ names: [String]) -> (name: String, text: String)? {
            names.lazy.compactMap { name in environment[name].map { (name, $0) } }.first { !$0.1.isEmpty }
        }
        self.exemptions = ProxyExemptions(value(["no_proxy", "NO_PROXY"])?.text ?? "")
        self.isAsked = option != nil
        if let option {
            let proxy = option.isEmpty ? nil : try Self.proxy(option)
            (self.forTLS, self.forCleartext, self.unused) = (proxy, proxy, [])
            return
        }
        var unused: [String] = []
        func proxy(_ names: [String]) -> Proxy? {
            guard let (name, text) = value(names) else { return nil }
            do throws(ProxyError) { return try Self.proxy(text) } catch {
                let line = "the proxy of \(name) is not used: \(error.reason)"
                if !unused.contains(line) { unused.append(line) }
                return nil
            }
        }
        self.forTLS = proxy(["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
        // In upper case this one is a header of a request to a CGI script, and curl does not read it.
        self.forCleartext = proxy(["http_proxy", "all_proxy", "ALL_PROXY"])
        self.unused = unused
    }

    /// The proxy for a host; `nil` where it is asked directly.
    ///
    /// - Parameters:
    ///   - host: The host of the address.
    ///   - place: Where it is asked, with `--connect-to`.
    ///   - isTLS: Whether it is asked over TLS.
    func proxy(for host: HostName, at place: HostName, isTLS: Bool = true) -> Proxy? {
        guard self.isAsked || !ReportAddress.isLoopback(place), !self.exemptions.contain(host) else { return nil }
        return isTLS ? self.forTLS : self.forCleartext
    }

    /// `[http://][NAME:PASSWORD@]HOST[:PORT]`.
    private static func proxy(_ text: String) throws(ProxyError) -> Proxy {
        var rest = text[...]
        if let scheme = text.range(of: "://") {
            guard text[..<scheme.lowerBound].lowercased() == "http" else {
                throw ProxyError(reason: "only proxies of the form http://HOST:PORT are spoken to here, with CONNECT")
            }
            rest = text[scheme.upperBound...]
        }
        rest = rest.prefix { !"/?#".contains($0) }
        var credentials: String?
        if let at = rest.lastIndex(of: "@") {
            guard let decoded = String(rest[..<at]).removingPercentEncoding,
                !decoded.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
            else { throw ProxyError(reason: "its name or password is not percent-encoded rightly") }
            credentials = decoded.contains(":") ? decoded : "\(decoded):"
            rest = rest[rest.index(after: at)...]
        }
        let hasPort = rest.last != "]" && (rest.hasPrefix("[") || rest.contains(":"))
        guard let address = ServerAddress(hasPort ? String(rest) : "\(rest):\(self.defaultPort)") else {
            throw ProxyError(reason: "this is not the address of a proxy; write http://HOST:PORT")
        }
        return Proxy(host: address.host.description, port: address.port, credentials: credentials)
    }
}

/// `NO_PROXY`: names with what is below them, addresses, networks, or `*` for all, between commas or blanks.
struct ProxyExemptions: Sendable {
    private let isEverything: Bool
    private let tokens: [String]

    /// Reads it. What means nothing exempts nothing.
    init(_ text: String) {
        self.isEverything = text == "*"
        self.tokens = text.lowercased().split { $0 == "," || $0.isWhitespace }.map(String.init)
    }

    /// Whether a host is asked directly.
    func contain(_ host: HostName) -> Bool {
        if self.isEverything { return true }
        let name = host.description
        if host.isAddress { return self.tokens.contains { Self.covers($0, address: name) } }
        return self.tokens.contains { token in
            var suffix = token[...]
            if suffix.first == "." { suffix = suffix.dropFirst() }
            if suffix.last == "." { suffix = suffix.dropLast() }
            let written = InternationalName.ascii(String(suffix)) ?? String(suffix)
            return !written.isEmpty && (name == written || name.hasSuffix("." + written))
        }
    }

    /// An address without brackets, or a network: `192.0.2.0/24`.
    private static func covers(_ token: String, address: String) -> Bool {
        let parts = token.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let network = self.bytes(String(parts[0])), let bytes = self.bytes(address), network.count == bytes.count
        else {
            return false
        }
        guard parts.count == 2, parts[1] != "0" else { return network == bytes }
        guard let length = UInt8(parts[1]).map(Int.init), length <= bytes.count * 8 else { return false }
        let (whole, rest) = (length / 8, length % 8)
        guard network.prefix(whole) == bytes.prefix(whole) else { return false }
        guard rest > 0 else { return true }
        return (network[whole] ^ bytes[whole]) >> UInt8(8 - rest) == 0
    }

    /// The bytes of an address in network order; `nil` for what is none.
    private static func bytes(_ text: String) -> [UInt8]? {
        var short = in_addr()
        if inet_pton(AF_INET, text, &short) == 1 { return withUnsafeBytes(of: short) { Array($0) } }
        var long = in6_addr()
        if inet_pton(AF_INET6, text, &long) == 1 { return withUnsafeBytes(of: long) { Array($0) } }
        return nil
    }
}
