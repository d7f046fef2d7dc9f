// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@_spi(Tools) import PathValidation

/// A revocation list, whose serial numbers are held against a second way to find them; and what else is read to know
/// which list is for which certificate: the distribution points of a certificate.
enum RevocationListBytes: FuzzTarget {
    static let name = "revocation-list"

    /// The most serial numbers that are looked up. What is above is found in the same way.
    private static let maximumLookUps = 512

    static func check(_ bytes: [UInt8]) {
        self.checkAddresses(bytes)
        guard let lists = try? RevocationLists([bytes]) else { return }
        precondition(lists.count > 0)
        // PEM has several, and text around them.
        guard bytes.first == 0x30 else { return }
        precondition(lists.count == 1)
        let serials = self.serials(in: bytes)
        precondition(serials.count == lists.revokedCount)
        let all = Set(serials)
        for serial in serials.prefix(self.maximumLookUps) {
            precondition(lists.entry(with: serial) != nil)
            for other in [serial + [1], Array(serial.dropLast()), [0x01] + serial] where !all.contains(other) {
                precondition(lists.entry(with: other) == nil)
            }
        }
        // It is DER to the last byte.
        precondition((try? RevocationLists([bytes + [0]])) == nil)
        precondition((try? RevocationLists([Array(bytes.dropLast())])) == nil)
    }

    /// A certificate whose distribution points are these bytes, and one that is these bytes.
    private static func checkAddresses(_ bytes: [UInt8]) {
        _ = try? RevocationLists.addresses(of: bytes)
        var form = SignedCertificate.Form()
        form.extensions[31] = SignedCertificate.Value(bytes: bytes, isCritical: false)
        guard let certificate = SignedCertificate(form, seed: 1),
            let addresses = try? RevocationLists.addresses(of: certificate.der)
        else { return }
        precondition(addresses.count <= bytes.count)
    }

    /// The contents of the serial numbers in a list that was found to be one, in their order.
    private static func serials(in list: [UInt8]) -> [[UInt8]] {
        guard let whole = self.elements(of: list[...]).first,
            let toBeSigned = self.elements(of: whole.contents).first
        else { preconditionFailure("no TBSCertList") }
        var fields = self.elements(of: toBeSigned.contents)[...]
        if fields.first?.tag == 0x02 { fields = fields.dropFirst() }
        // The algorithm, the issuer and the first time.
        fields = fields.dropFirst(3)
        if let tag = fields.first?.tag, tag == 0x17 || tag == 0x18 { fields = fields.dropFirst() }
        guard let entries = fields.first, entries.tag == 0x30 else { return [] }
        return self.elements(of: entries.contents).map { entry in
            Array(self.elements(of: entry.contents).first?.contents ?? [])
        }
    }

    /// The elements in some bytes that were found to be DER.
    private static func elements(of bytes: ArraySlice<UInt8>) -> [(tag: UInt8, contents: ArraySlice<UInt8>)] {
        var rest = bytes
        var elements: [(tag: UInt8, contents: ArraySlice<UInt8>)] = []
        while let tag = rest.popFirst(), var length = rest.popFirst().map({ Int($0) }) {
            if length >= 0x80 {
                let octets = length - 0x80
                length = rest.prefix(octets).reduce(0) { $0 << 8 | Int($1) }
                rest = rest.dropFirst(octets)
            }
            elements.append((tag, rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return elements
    }
}
