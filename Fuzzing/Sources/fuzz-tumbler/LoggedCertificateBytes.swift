// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
@_spi(Tools) import CertificateTransparency

/// The part of a certificate that logs signed, held against a second way to write it: the certificate taken apart into
/// elements, and put together again without the one.
enum LoggedCertificateBytes: FuzzTarget {
    static let name = "logged-certificate"

    static let identifier: [UInt8] = [
        0x06, 0x0a, 0x2b, 0x06, 0x01, 0x04, 0x01, 0xd6, 0x79, 0x02, 0x04, 0x02,
    ]

    static func check(_ bytes: [UInt8]) {
        let logged: LoggedCertificate
        do throws(TransparencyError) { logged = try LoggedCertificate(bytes) } catch {
            // A certificate with a frame and times may still have extensions that are none.
            precondition(error.code != .certificate || (try? CertificateFields(walking: bytes)) == nil)
            return
        }
        precondition(logged.notBefore <= logged.notAfter)
        let whole = self.parts(of: bytes)
        guard let toBeSigned = whole.first else { preconditionFailure("no TBSCertificate") }
        precondition(logged.toBeSigned == self.rebuilt(toBeSigned, without: [self.identifier]))
        // Without its timestamps it is a certificate that has none, and is what it is.
        let rest = whole.dropFirst().flatMap { self.written($0.tag, Array($0.contents)) }
        let again = self.written(0x30, logged.toBeSigned + rest)
        guard let second = try? LoggedCertificate(again) else { preconditionFailure("not a certificate any more") }
        precondition(second.timestamps == nil && second.toBeSigned == logged.toBeSigned)
    }

    /// The three parts of a certificate that was found to be one.
    static func parts(of certificate: [UInt8]) -> [Element] {
        self.elements(of: certificate[...]).first.map { self.elements(of: $0.contents) } ?? []
    }

    /// A TBSCertificate without extensions, by their object identifiers in DER.
    static func rebuilt(_ toBeSigned: Element, without identifiers: [[UInt8]]) -> [UInt8] {
        var fields = self.elements(of: toBeSigned.contents).map { ($0.tag, Array($0.contents)) }
        if let last = fields.last, last.0 == 0xa3, let sequence = self.elements(of: last.1[...]).first {
            let all = self.elements(of: sequence.contents)
            let kept = all.filter { each in !identifiers.contains { each.contents.starts(with: $0) } }
            if kept.count < all.count {
                fields.removeLast()
                let inner = self.written(0x30, kept.flatMap { self.written($0.tag, Array($0.contents)) })
                if !kept.isEmpty { fields.append((0xa3, inner)) }
            }
        }
        return self.written(toBeSigned.tag, fields.flatMap { self.written($0.0, $0.1) })
    }

    struct Element {
        let tag: UInt8
        let contents: ArraySlice<UInt8>
    }

    /// The elements in some bytes that were found to be DER: lengths of at most two bytes.
    private static func elements(of bytes: ArraySlice<UInt8>) -> [Element] {
        var rest = bytes
        var elements: [Element] = []
        while let tag = rest.popFirst(), var length = rest.popFirst().map({ Int($0) }) {
            if length >= 0x80 {
                let octets = length - 0x80
                length = rest.prefix(octets).reduce(0) { $0 << 8 | Int($1) }
                rest = rest.dropFirst(octets)
            }
            elements.append(Element(tag: tag, contents: rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return elements
    }

    private static func written(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        var length: [UInt8] = []
        var rest = contents.count
        while rest > 0 {
            length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [tag] + (contents.count < 0x80 ? [UInt8(contents.count)] : [0x80 | UInt8(length.count)] + length)
            + contents
    }
}
