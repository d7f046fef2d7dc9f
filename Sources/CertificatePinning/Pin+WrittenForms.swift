// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The written forms of a pin (formats.md, section 1). Read byte by byte, because characters with combining marks may
/// look like others.
extension Pin: CustomStringConvertible {
    /// The maximum length of a written pin in bytes: the longest form plus some blanks around it.
    public static let maximumTextLength = 128

    /// 32 bytes in base64.
    private static let base64Length = 44

    private static let publicKeyPrefix = Array("sha256/".utf8)
    private static let certificatePrefix = Array("cert-sha256/".utf8)
    private static let curlPrefix = Array("sha256//".utf8)
    private static let headerPrefix = Array("pin-sha256=\"".utf8)

    /// `sha256/BASE64` or `cert-sha256/BASE64`, the only forms in signed lists.
    public var description: String {
        (self.kind == .publicKey ? "sha256/" : "cert-sha256/") + Base64.encode(self.digest)
    }

    /// Reads the canonical form alone, as it stands in signed lists.
    ///
    /// - Parameter text: `sha256/` or `cert-sha256/` and 44 characters of base64.
    /// - Throws: ``InputError/Code/pin``.
    public init(canonical text: String) throws(InputError) {
        try self.init(canonicalBytes: try Self.bounded(text))
    }

    /// Reads every written form, as on command lines and in imports: the canonical ones, bare base64,
    /// `pin-sha256="…"` (RFC 7469, section 2.1), and curl's `sha256//…`. Blanks around it are ignored.
    ///
    /// - Throws: ``InputError/Code/pin``.
    public init(_ text: String) throws(InputError) {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var bytes = try Self.bounded(text).drop(while: isBlank)
        while let last = bytes.last, isBlank(last) { bytes.removeLast() }

        // base64 may begin with a slash as well: the length tells `sha256//…` apart from a canonical pin.
        if bytes.starts(with: Self.curlPrefix), bytes.count != Self.publicKeyPrefix.count + Self.base64Length {
            try self.init(kind: .publicKey, base64: bytes.dropFirst(Self.curlPrefix.count))
        } else if bytes.starts(with: Self.headerPrefix) {
            guard bytes.count > Self.headerPrefix.count, bytes.last == UInt8(ascii: "\"") else {
                throw InputError(.pin, "pin-sha256=\" has no closing quotation mark")
            }
            try self.init(kind: .publicKey, base64: bytes.dropFirst(Self.headerPrefix.count).dropLast())
        } else if bytes.starts(with: Self.publicKeyPrefix) || bytes.starts(with: Self.certificatePrefix) {
            try self.init(canonicalBytes: bytes)
        } else {
            try self.init(kind: .publicKey, base64: bytes)
        }
    }

    private init(canonicalBytes bytes: ArraySlice<UInt8>) throws(InputError) {
        if bytes.starts(with: Self.certificatePrefix) {
            try self.init(kind: .certificate, base64: bytes.dropFirst(Self.certificatePrefix.count))
        } else if bytes.starts(with: Self.publicKeyPrefix) {
            try self.init(kind: .publicKey, base64: bytes.dropFirst(Self.publicKeyPrefix.count))
        } else {
            throw InputError(.pin, "a pin is written sha256/BASE64 or cert-sha256/BASE64")
        }
    }

    private init(kind: Kind, base64: ArraySlice<UInt8>) throws(InputError) {
        guard let digest = Base64.decode(base64), let pin = Pin(kind: kind, digest: digest) else {
            throw InputError(.pin, "a pin holds 44 characters of base64, which are the 32 bytes of a SHA-256")
        }
        self = pin
    }

    private static func bounded(_ text: String) throws(InputError) -> ArraySlice<UInt8> {
        guard text.utf8.count <= self.maximumTextLength else {
            throw InputError(.pin, "a pin is at most \(self.maximumTextLength) bytes long")
        }
        return Array(text.utf8)[...]
    }
}
