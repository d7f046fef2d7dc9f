// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1
internal import X509

/// A distinguished name as people write it: `CN=api.example.com, O=Example`, the most specific first (RFC 4514).
struct SubjectName {
    /// The maximum number of bytes of the text: a name has some attributes of 64 characters each (RFC 5280, appendix
    /// A.1).
    static let maximumLength = 1_024

    private static let types: [String: ASN1ObjectIdentifier] = [
        "CN": .RDNAttributeType.commonName, "O": .RDNAttributeType.organizationName,
        "OU": .RDNAttributeType.organizationalUnitName, "C": .RDNAttributeType.countryName,
        "L": .RDNAttributeType.localityName, "ST": .RDNAttributeType.stateOrProvinceName,
        "STREET": .RDNAttributeType.streetAddress, "DC": .RDNAttributeType.domainComponent,
    ]

    private let parts: [(type: ASN1ObjectIdentifier, value: String)]

    /// Reads a name.
    ///
    /// - Throws: ``RepositoryError`` with what to write.
    init(_ text: String) throws(RepositoryError) {
        guard text.utf8.count <= Self.maximumLength else {
            throw RepositoryError(.usage, "a subject has at most \(Self.maximumLength) bytes")
        }
        var parts: [(ASN1ObjectIdentifier, String)] = []
        for part in try Self.split(text) {
            let key = String(part.prefix { $0 != "=" }).filter { $0 != " " }
            guard let type = Self.types[key.uppercased()], part.contains("=") else {
                let known = Self.types.keys.sorted().joined(separator: " ")
                throw RepositoryError(
                    .usage, "--subject: \(part.isEmpty ? "an empty part" : "\"\(part)\"") is not an attribute",
                    hint: "like CN=api.example.com,O=Example; known are \(known)")
            }
            let value = try Self.unescaped(String(part.drop { $0 != "=" }.dropFirst()))
            guard !value.isEmpty else { throw RepositoryError(.usage, "--subject: \(key) is empty") }
            parts.append((type, value))
        }
        self.parts = parts
    }

    /// The name; in the encoding the most specific comes last.
    var name: DistinguishedName {
        get throws {
            DistinguishedName(
                try self.parts.reversed().map { type, value in
                    // The types that RFC 5280, appendix A.1, gives no choice.
                    let attribute =
                        switch type {
                        case .RDNAttributeType.countryName:
                            try RelativeDistinguishedName.Attribute(type: type, printableString: value)
                        case .RDNAttributeType.domainComponent:
                            try RelativeDistinguishedName.Attribute(type: type, ia5String: value)
                        default: RelativeDistinguishedName.Attribute(type: type, utf8String: value)
                        }
                    return RelativeDistinguishedName(attribute)
                })
        }
    }

    /// Parts at commas, of which those behind a backslash part nothing.
    private static func split(_ text: String) throws(RepositoryError) -> [String] {
        var parts = [""]
        var isEscaped = false
        for character in text {
            if character == ",", !isEscaped {
                parts.append("")
            } else if character == "+", !isEscaped {
                throw RepositoryError(.usage, "--subject: several attributes in one part (+) are not written here")
            } else {
                parts[parts.count - 1].append(character)
            }
            isEscaped = character == "\\" && !isEscaped
        }
        return parts.map { part in String(part.drop { $0 == " " }) }
    }

    /// A backslash makes the character after it one like any other.
    private static func unescaped(_ text: String) throws(RepositoryError) -> String {
        var value = ""
        var isEscaped = false
        for character in text {
            if character == "\\", !isEscaped {
                isEscaped = true
            } else {
                value.append(character)
                isEscaped = false
            }
        }
        guard !isEscaped else { throw RepositoryError(.usage, "--subject ends with a backslash") }
        return value
    }
}
