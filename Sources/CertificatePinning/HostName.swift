// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A host, normalised: the one form in which lists and requests name it (formats.md, section 2).
///
/// There is one normaliser for both sides, so that `API.Example.com.` cannot miss the entry of `api.example.com`
/// (CVE-2026-129482 was that). Equality is equality of the normalised text.
public struct HostName: Hashable, Sendable, CustomStringConvertible {
    /// The most bytes a name may have, without the trailing dot (RFC 1035, section 2.3.4).
    public static let maximumLength = 253

    /// The most bytes a label may have (RFC 1035, section 2.3.4).
    public static let maximumLabelLength = 63

    /// The normalised text: a lower-case name without a trailing dot, an IPv4 address in four decimal numbers, or an
    /// IPv6 address as RFC 5952 writes it, without brackets. An IPv4-mapped IPv6 address is the IPv4 address.
    public let description: String

    /// Whether this is an IP address: it matches exactly and has no subdomains.
    public let isAddress: Bool

    /// Normalises a host, given without a port.
    ///
    /// - Parameter host: A DNS name (the A-label of an internationalised one), an IPv4 address, or an IPv6 address with
    ///   or without brackets.
    /// - Throws: ``InputError/Code/host``, with what to write instead where that can be said.
    public init(_ host: String) throws(InputError) {
        var bytes = try Self.lowered(host)
        if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
        guard !bytes.isEmpty else { throw InputError(.host, "the host is empty") }
        if bytes.contains(UInt8(ascii: ":")) || bytes[0] == UInt8(ascii: "[") {
            guard let address = IPAddress(versionSix: bytes) else {
                throw InputError(.host, "not an IPv6 address; a port or a zone id does not belong here")
            }
            self.description = address.description
            self.isAddress = true
            return
        }
        let lastLabelIsNumber = try Self.checkLabels(bytes)
        if lastLabelIsNumber {
            // A resolver takes 127.1, 0x7f000001 or 017700000001 for an address; a certificate check does not.
            guard IPAddress(versionFour: bytes[...]) != nil else {
                throw InputError(
                    .host, "a name whose last label is a number is only allowed as an IPv4 address in four decimal numbers")
            }
        }
        self.isAddress = lastLabelIsNumber
        self.description = bytes.elementsEqual(host.utf8) ? host : String(decoding: bytes, as: UTF8.self)
    }

    private static func lowered(_ host: String) throws(InputError) -> [UInt8] {
        // Brackets and a trailing dot are the most that goes; a longer text is refused before it is copied.
        guard host.utf8.count <= self.maximumLength + 3 else {
            throw InputError(.host, "the host is over \(self.maximumLength) bytes long")
        }
        var bytes = Array(host.utf8)
        for index in bytes.indices where (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(bytes[index]) {
            bytes[index] |= 0x20
        }
        return bytes
    }

    /// Checks a name label by label; returns whether the last one is a number to a resolver.
    private static func checkLabels(_ bytes: [UInt8]) throws(InputError) -> Bool {
        guard bytes.count <= self.maximumLength else {
            throw InputError(.host, "the host is over \(self.maximumLength) bytes long")
        }
        var labelStart = 0
        var onlyDigits = true
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                break
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                onlyDigits = false
            case UInt8(ascii: "."):
                try self.checkLabel(length: index - labelStart)
                labelStart = index + 1
                onlyDigits = true
            case let byte where byte >= 0x80:
                throw InputError(.host, "the host is not ASCII; write its A-label (xn--…)")
            default:
                throw InputError(.host, "the host holds a character other than a-z, 0-9, hyphen, underscore and dot")
            }
        }
        try self.checkLabel(length: bytes.count - labelStart)
        return onlyDigits || bytes[labelStart...].starts(with: [UInt8(ascii: "0"), UInt8(ascii: "x")])
    }

    private static func checkLabel(length: Int) throws(InputError) {
        guard length > 0 else { throw InputError(.host, "the host has an empty label") }
        guard length <= self.maximumLabelLength else {
            throw InputError(.host, "a label of the host is over \(self.maximumLabelLength) bytes long")
        }
    }
}
