// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import SwiftASN1
import X509

/// DER in parts, to make what no library writes.
enum DERParts {
    /// An element.
    static func element(_ tag: UInt8, _ contents: some Collection<UInt8>) -> [UInt8] {
        let length = contents.count
        switch length {
        case ..<0x80: return [tag, UInt8(length)] + contents
        case ..<0x100: return [tag, 0x81, UInt8(length)] + contents
        default: return [tag, 0x82, UInt8(length >> 8), UInt8(length & 0xff)] + contents
        }
    }

    /// A SEQUENCE of some elements.
    static func sequence(_ elements: [[UInt8]]) -> [UInt8] { self.element(0x30, Array(elements.joined())) }

    /// The elements within an element.
    static func elements(within element: [UInt8]) -> [[UInt8]] {
        var rest = element[self.header(of: element[...])...]
        var elements: [[UInt8]] = []
        while !rest.isEmpty {
            let header = self.header(of: rest)
            let length =
                header == 2
                ? Int(rest[rest.startIndex + 1])
                : rest[(rest.startIndex + 2)..<(rest.startIndex + header)].reduce(0) { $0 << 8 | Int($1) }
            elements.append(Array(rest.prefix(header + length)))
            rest = rest.dropFirst(header + length)
        }
        return elements
    }

    private static func header(of element: ArraySlice<UInt8>) -> Int {
        let first = element[element.startIndex + 1]
        return first < 0x80 ? 2 : 2 + Int(first & 0x7f)
    }
}

extension TestCertificate {
    /// Where the fields of a TBSCertificate of version 3 stand in it.
    enum Field: Int {
        case serialNumber = 1
        case signature, issuer, validity, subject, publicKey, extensions
    }

    /// This certificate with other fields in its TBSCertificate, signed again by a P-256 key.
    func reissued(by issuer: TestCertificate, _ change: (inout [[UInt8]]) -> Void) throws -> [UInt8] {
        let parts = DERParts.elements(within: self.der)
        var fields = DERParts.elements(within: parts[0])
        change(&fields)
        let toBeSigned = DERParts.sequence(fields)
        let signature = try issuer.key.sign(bytes: toBeSigned, signatureAlgorithm: .ecdsaWithSHA256)
        return DERParts.sequence([toBeSigned, parts[1], DERParts.element(0x03, [0] + signature.rawRepresentation)])
    }

    /// The same with one field replaced.
    func reissued(by issuer: TestCertificate, _ field: Field, _ value: [UInt8]) throws -> [UInt8] {
        try self.reissued(by: issuer) { $0[field.rawValue] = value }
    }
}
#endif
