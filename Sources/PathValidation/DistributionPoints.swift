// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import SwiftASN1
import X509

/// CRL distribution points (RFC 5280, section 4.2.1.13): read so that malformed ones are noticed, and for the names under
/// which a revocation list covers a certificate. Nothing is fetched here.
enum DistributionPoints {
    /// The extension.
    static let identifier: ASN1ObjectIdentifier = [2, 5, 29, 31]

    private static let tags = (0...2).map { ASN1Identifier(tagWithNumber: UInt($0), tagClass: .contextSpecific) }

    /// Reads the extension's value.
    ///
    /// - Throws: swift-asn1's error for any other value.
    static func check(_ value: ArraySlice<UInt8>) throws {
        try DER.sequence(try DER.parse(value), identifier: .sequence) { points in
            while let point = points.next() {
                try DER.sequence(point, identifier: .sequence) { try self.checkFields(of: &$0) }
            }
        }
    }

    /// The URIs of the points whose lists are the issuer's own and for all reasons: lists of points that name another
    /// issuer, or only some reasons, are not read here.
    ///
    /// - Parameter value: The extension's value.
    /// - Throws: swift-asn1's error for any other value.
    static func names(in value: ArraySlice<UInt8>) throws -> [[UInt8]] {
        try self.check(value)
        var names: [[UInt8]] = []
        try DER.sequence(try DER.parse(value), identifier: .sequence) { points in
            while let point = points.next() {
                try DER.sequence(point, identifier: .sequence) { fields in
                    var found: [ASN1Node] = []
                    while let field = fields.next() { found.append(field) }
                    guard found.count == 1, found[0].identifier == self.tags[0] else { return }
                    try DER.sequence(found[0], identifier: self.tags[0]) { choice in
                        guard let name = choice.next(), name.identifier == self.tags[0] else {
                            while choice.next() != nil {}
                            return
                        }
                        try DER.sequence(name, identifier: self.tags[0]) { general in
                            while let node = general.next() {
                                guard case .uniformResourceIdentifier(let text) = try GeneralName(derEncoded: node)
                                else {
                                    continue
                                }
                                names.append(Array(text.utf8))
                            }
                        }
                    }
                }
            }
        }
        return names
    }

    private static func checkFields(of point: inout ASN1NodeCollection.Iterator) throws {
        var rest = self.tags[...]
        while let field = point.next() {
            // Each member at most once, in their order.
            while let tag = rest.first, tag != field.identifier { rest = rest.dropFirst() }
            guard rest.popFirst() != nil else { throw ASN1Error.unexpectedFieldType(field.identifier) }
            switch field.identifier {
            case self.tags[0]: try DER.sequence(field, identifier: field.identifier) { try self.checkName(&$0) }
            case self.tags[1]: _ = try ASN1BitString(derEncoded: field, withIdentifier: field.identifier)
            default: try self.checkNames(field)
            }
        }
    }

    private static func checkName(_ nodes: inout ASN1NodeCollection.Iterator) throws {
        guard let name = nodes.next() else { throw ASN1Error.invalidASN1Object(reason: "no name") }
        if name.identifier == self.tags[1] {
            _ = try RelativeDistinguishedName(derEncoded: name, withIdentifier: name.identifier)
        } else if name.identifier == self.tags[0] {
            try self.checkNames(name)
        } else {
            throw ASN1Error.unexpectedFieldType(name.identifier)
        }
    }

    private static func checkNames(_ names: ASN1Node) throws {
        try DER.sequence(names, identifier: names.identifier) { nodes in
            var count = 0
            while let node = nodes.next() {
                _ = try GeneralName(derEncoded: node)
                count += 1
            }
            guard count > 0 else { throw ASN1Error.invalidASN1Object(reason: "no names") }
        }
    }
}
#endif
