// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// Property lists as files: XML and binary. The old text form is not read.
///
/// Our own readers, because Foundation's bounds neither the depth nor the expansion of a small binary file.
@_spi(Tools) public enum PropertyList {
    /// Reads a property list.
    ///
    /// - Throws: ``MigrationError`` of the codes `malformed` and `too-large`.
    public static func read(_ bytes: [UInt8]) throws(MigrationError) -> ConfigurationValue {
        guard bytes.count <= MigrationLimits.bytes else { throw ConfigurationValue.tooLarge }
        if bytes.starts(with: BinaryPropertyList.magic) { return try BinaryPropertyList.read(bytes) }
        return try self.value(of: self.root(of: try XMLReader.read(bytes)))
    }

    private static func root(of document: XMLElement) throws(MigrationError) -> XMLElement {
        guard document.name == "plist" else { return document }
        guard document.children.count == 1 else {
            throw self.malformed("a property list has one value, but this one has \(document.children.count)")
        }
        return document.children[0]
    }

    // The reader of XML bounds the nesting.
    private static func value(of element: XMLElement) throws(MigrationError) -> ConfigurationValue {
        switch element.name {
        case "string": return .bounded(element.text)
        case "true": return .flag(true)
        case "false": return .flag(false)
        case "integer": return Int64(element.trimmedText).map { .integer($0) } ?? .other("a number")
        case "real": return .other("a number with a fraction")
        case "data": return .other("data")
        case "date": return (try? Timestamp(element.trimmedText)).map { .date($0) } ?? .other("a date")
        case "array":
            var values: [ConfigurationValue] = []
            for child in element.children { values.append(try self.value(of: child)) }
            return .list(values)
        case "dict":
            guard element.children.count.isMultiple(of: 2) else {
                throw self.malformed("a dictionary of the property list has a key without a value")
            }
            var members: [String: ConfigurationValue] = [:]
            for index in stride(from: 0, to: element.children.count, by: 2) {
                let key = element.children[index]
                guard key.name == "key" else {
                    throw self.malformed("<\(key.name)> is in the place of a <key>")
                }
                guard members.updateValue(try self.value(of: element.children[index + 1]), forKey: key.text) == nil
                else {
                    throw self.malformed(
                        "the key \"\(PrintableText.line(key.text, maximumLength: 64))\" occurs twice")
                }
            }
            return .table(members)
        default: throw self.malformed("<\(element.name)> is not an element of a property list")
        }
    }

    /// The error for a file that is not a property list.
    static func malformed(_ reason: String) -> MigrationError {
        MigrationError(
            .malformed, reason, hint: "give a property list, XML or binary; plutil -lint says whether it is one")
    }
}

extension MigratedPins {
    /// Reads a property list with a configuration of TrustKit: a whole Info.plist, or the dictionary alone.
    ///
    /// - Throws: ``MigrationError``.
    @_spi(Tools) public init(trustKitPropertyList bytes: [UInt8]) throws(MigrationError) {
        let value = try PropertyList.read(bytes)
        guard case .table(let members) = value, let configuration = members["TSKConfiguration"] else {
            try self.init(trustKit: value)
            return
        }
        try self.init(trustKit: configuration, ofMacApp: members[Self.keyOfMacApps] != nil)
    }

    /// Reads a property list with `NSPinnedDomains`: a whole Info.plist, its `NSAppTransportSecurity`, or the
    /// dictionary alone.
    ///
    /// - Throws: ``MigrationError``.
    @_spi(Tools) public init(pinnedDomainsPropertyList bytes: [UInt8]) throws(MigrationError) {
        var value = try PropertyList.read(bytes)
        if case .table(let members) = value, let transport = members["NSAppTransportSecurity"] { value = transport }
        if case .table(let members) = value, let domains = members["NSPinnedDomains"] {
            try self.init(pinnedDomains: domains)
            return
        }
        // Any dictionary could be one of hosts; a whole Info.plist without pins gets its own error.
        if case .table(let members) = value,
            members.keys.contains(where: { $0.hasPrefix("CFBundle") || $0.hasPrefix("NSAllows") })
        {
            throw MigrationError(
                .nothingPinned, "there is no NSAppTransportSecurity with NSPinnedDomains in it",
                hint: "give the Info.plist of the app itself")
        }
        try self.init(pinnedDomains: value)
    }
}
