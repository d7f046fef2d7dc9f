// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A host, normalised: the one form in which lists and requests name it (formats.md, section 2).
///
/// There is one normaliser for both sides, so that `API.Example.com.` cannot miss the entry of `api.example.com`
/// (CVE-2026-129482 was that). Equality is equality of the normalised text.
public struct HostName: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length of a name in bytes, without the trailing dot (RFC 1035, section 2.3.4).
    public static let maximumLength = 253

    /// The maximum length of a label in bytes (RFC 1035, section 2.3.4).
    public static let maximumLabelLength = 63

    /// The normalised text: a lower-case name without a trailing dot, an IPv4 address in four decimal numbers, or an
    /// IPv6 address as RFC 5952 writes it, without brackets. An IPv4-mapped IPv6 address is the IPv4 address.
    public let description: String

    /// Whether this is an IP address: it matches exactly and has no subdomains.
    public let isAddress: Bool

    /// Whether a label of this name holds an underscore. DNS and certificates have such names. Most TLS libraries do
    /// not accept them as host names and compare them with no certificate, so our own comparison decides.
    @_spi(Adapters) public var hasUnderscore: Bool { self.description.utf8.contains(UInt8(ascii: "_")) }

    /// Normalises a host, given without a port.
    ///
    /// - Parameter host: A DNS name (the A-label of an internationalised one), an IPv4 address, or an IPv6 address with
    ///   or without brackets.
    /// - Throws: ``InputError/Code/host``, with a hint on what to write instead where there is one.
    public init(_ host: String) throws(InputError) {
        // Nearly every host is a name in its normal form already, which is recognised without a copy.
        if let isNormal = host.utf8.withContiguousStorageIfAvailable({ Self.isNormalName($0) }), isNormal {
            self.description = host
            self.isAddress = false
            return
        }
        // At most brackets and a trailing dot are removed; a longer text is refused before it is copied.
        guard host.utf8.count <= Self.maximumLength + 3 else {
            throw InputError(.host, "the host is over \(Self.maximumLength) bytes long")
        }
        var bytes = host.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
        guard let first = bytes.first else { throw InputError(.host, "the host is empty") }
        if bytes.contains(UInt8(ascii: ":")) || first == UInt8(ascii: "[") {
            guard let address = IPAddress(versionSix: bytes) else {
                throw InputError(.host, "not an IPv6 address; leave out a port and a zone id")
            }
            self.description = address.description
            self.isAddress = true
            return
        }
        try Self.checkLabels(bytes)
        self.isAddress = bytes.withUnsafeBufferPointer { Self.endsInNumber($0) }
        // A resolver takes 127.1, 0x7f000001 or 017700000001 for an address; a certificate check does not.
        guard !self.isAddress || IPAddress(versionFour: bytes[...]) != nil else {
            throw InputError(
                .host, "a name whose last label is a number is only allowed as an IPv4 address in four decimal numbers")
        }
        self.description = String(decoding: bytes, as: UTF8.self)
    }

    /// Whether a text is a name in its normal form. Returns `false` for names that have yet to be normalised.
    private static func isNormalName(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard !bytes.isEmpty, bytes.count <= self.maximumLength else { return false }
        var labelStart = 0
        for index in bytes.indices {
            if bytes[index] == UInt8(ascii: ".") {
                guard (1...self.maximumLabelLength).contains(index - labelStart) else { return false }
                labelStart = index + 1
            } else if !self.isLabelByte(bytes[index]) {
                return false
            }
        }
        return (1...self.maximumLabelLength).contains(bytes.count - labelStart) && !self.endsInNumber(bytes)
    }

    @inline(__always)
    private static func isLabelByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Whether the last label is a number to a resolver: all digits, or beginning with `0x`.
    private static func endsInNumber(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let label = bytes[((bytes.lastIndex(of: UInt8(ascii: ".")) ?? -1) + 1)...]
        return label.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            || label.starts(with: [UInt8(ascii: "0"), UInt8(ascii: "x")])
    }

    /// Returns what is wrong with a name, if anything is.
    private static func checkLabels(_ bytes: [UInt8]) throws(InputError) {
        guard bytes.count <= self.maximumLength else {
            throw InputError(.host, "the host is over \(self.maximumLength) bytes long")
        }
        for label in bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            guard !label.isEmpty else { throw InputError(.host, "the host has an empty label") }
            guard label.count <= self.maximumLabelLength else {
                throw InputError(.host, "a label of the host is over \(self.maximumLabelLength) bytes long")
            }
            guard let stranger = label.first(where: { !self.isLabelByte($0) }) else { continue }
            throw InputError(
                .host,
                stranger >= 0x80
                    ? "the host is not ASCII; write its A-label (xn--…)"
                    : "the host holds a character other than a-z, 0-9, hyphen, underscore and dot")
        }
    }
}
