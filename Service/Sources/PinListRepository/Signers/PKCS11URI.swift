// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The name of a key on a token (RFC 7512), as far as it is understood here.
///
/// What is not understood is refused, never ignored: an attribute that tells two keys apart must not be ignored.
public struct PKCS11URI: Hashable, Sendable, CustomStringConvertible {
    /// The maximum number of bytes of the text: an address of RFC 7512 has some labels of 32 bytes and two paths.
    public static let maximumLength = 4_096

    private static let pathNames = ["token", "object", "id", "type", "slot-id"]
    private static let queryNames = ["module-path", "module-name", "pin-source"]

    /// The text as it was written.
    public let description: String

    /// The token's label.
    public let token: String?
    /// The key's label.
    public let object: String?
    /// The key's `CKA_ID`.
    public let id: [UInt8]?
    /// The number of the slot.
    public let slot: UInt?
    /// The path of the module.
    public let modulePath: String?
    /// The name of the module, without `lib` and `.so`.
    public let moduleName: String?
    /// The file whose first line is the PIN.
    public let pinSource: String?

    /// Reads a name.
    ///
    /// - Throws: ``RepositoryError`` of the code `usage`: what is unknown, twice, or not allowed.
    public init(_ text: String) throws(RepositoryError) {
        guard text.utf8.count <= Self.maximumLength, text.hasPrefix("pkcs11:") else {
            throw RepositoryError(.usage, "not a pkcs11: name, or one of over \(Self.maximumLength) bytes")
        }
        let parts = text.dropFirst("pkcs11:".count).split(separator: "?", omittingEmptySubsequences: false)
        guard parts.count <= 2 else { throw RepositoryError(.usage, "pkcs11: name with two question marks") }
        var path = try Self.attributes(parts[0], separator: ";", known: Self.pathNames)
        var query = try Self.attributes(parts.count == 2 ? parts[1] : "", separator: "&", known: Self.queryNames)

        self.description = text
        self.token = try Self.text("token", path.removeValue(forKey: "token"))
        self.object = try Self.text("object", path.removeValue(forKey: "object"))
        self.id = path.removeValue(forKey: "id")
        // Both name the pair: the private half signs, the public half is what `key show` reads.
        if let type = try Self.text("type", path.removeValue(forKey: "type")), !["private", "public"].contains(type) {
            throw RepositoryError(
                .usage, "pkcs11: type=\(type) is not a signing key", hint: "type=private, or leave it out")
        }
        let slot = try Self.text("slot-id", path.removeValue(forKey: "slot-id"))
        self.slot = try slot.map { (text) throws(RepositoryError) in
            guard let number = UInt(text) else {
                throw RepositoryError(.usage, "pkcs11: slot-id=\(text) is not a number")
            }
            return number
        }
        self.modulePath = try Self.text("module-path", query.removeValue(forKey: "module-path"))
        self.moduleName = try Self.text("module-name", query.removeValue(forKey: "module-name"))
        guard self.moduleName?.contains("/") != true else {
            throw RepositoryError(.usage, "pkcs11: module-name is a name, not a path", hint: "module-path=/path/to/it")
        }
        self.pinSource = try Self.text("pin-source", query.removeValue(forKey: "pin-source")).map {
            (source) throws(RepositoryError) in try Self.file(source)
        }
        guard self.object != nil || self.id != nil else {
            throw RepositoryError(
                .usage, "pkcs11: the name says neither object nor id, so it names no key",
                hint: "pkcs11:token=LABEL;object=LABEL, or ;id=%01")
        }
    }

    /// Splits at a separator and decodes; each name once, and only known ones.
    private static func attributes(
        _ text: Substring, separator: Character, known: [String]
    ) throws(RepositoryError) -> [String: [UInt8]] {
        var values: [String: [UInt8]] = [:]
        for attribute in text.split(separator: separator) {
            guard let equals = attribute.firstIndex(of: "=") else {
                throw RepositoryError(.usage, "pkcs11: \"\(attribute)\" has no value", hint: "NAME=VALUE")
            }
            let name = String(attribute[..<equals])
            guard name != "pin-value" else {
                throw RepositoryError(
                    .usage, "pkcs11: pin-value is refused, because all users of this machine can list the arguments",
                    hint: "pin-source=/path/to/a/file, --passphrase-file or the terminal")
            }
            guard known.contains(name) else {
                let isElsewhere = (Self.pathNames + Self.queryNames).contains(name)
                throw RepositoryError(
                    .usage, isElsewhere ? "pkcs11: \(name) stands on the wrong side of ?" : "pkcs11: unknown \(name)",
                    hint: "known are \(Self.pathNames.joined(separator: ", ")), and behind ? "
                        + Self.queryNames.joined(separator: ", "))
            }
            guard let value = self.decoded(attribute[attribute.index(after: equals)...]), !value.isEmpty else {
                throw RepositoryError(.usage, "pkcs11: the value of \(name) is empty, or not percent-encoded rightly")
            }
            guard values.updateValue(value, forKey: name) == nil else {
                throw RepositoryError(.usage, "pkcs11: \(name) is there twice")
            }
        }
        return values
    }

    private static func decoded(_ text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(self.digit), let low = rest.popFirst().flatMap(self.digit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func text(_ name: String, _ bytes: [UInt8]?) throws(RepositoryError) -> String? {
        guard let bytes else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw RepositoryError(.usage, "pkcs11: the value of \(name) is not UTF-8")
        }
        return text
    }

    /// RFC 7512, section 2.4: a `file:` URI or a path. A program (`|command`) is not run.
    private static func file(_ source: String) throws(RepositoryError) -> String {
        guard !source.hasPrefix("|") else {
            throw RepositoryError(.usage, "pkcs11: pin-source is a file here, and no program is run for it")
        }
        guard source.hasPrefix("file:") else { return source }
        let path = source.dropFirst("file:".count)
        return String(path.hasPrefix("///") ? path.dropFirst(2) : path)
    }
}
