// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@Suite("Names of certificates, for people")
struct DistinguishedNameTextTests {
    private func name(_ attributes: (type: [UInt8], value: DERNode)...) -> DERNode {
        var name = DERNode(0x30, [DERNode]().flatMap(\.encoded))
        name.children = attributes.map { DERNode(0x31, DERNode(0x30, DERNode(0x06, $0.type), $0.value)) }
        return name
    }

    private func text(_ name: DERNode) throws -> String {
        try #require(DistinguishedNameText(subjectOf: SketchedCertificate(subject: name, key: [1]).der)).description
    }

    @Test("the most specific comes first, with the short names of RFC 4514")
    func mostSpecificComesFirstWithTheShortNamesOfRFC4514() throws {
        let utf8 = { DERNode(0x0c, Array($0.utf8)) } as (String) -> DERNode
        let name = self.name(
            ([0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 0x01, 0x19], DERNode(0x16, Array("com".utf8))),
            ([0x55, 0x04, 0x06], DERNode(0x13, Array("DE".utf8))), ([0x55, 0x04, 0x08], utf8("Bayern")),
            ([0x55, 0x04, 0x07], utf8("München")), ([0x55, 0x04, 0x0a], utf8("Example")),
            ([0x55, 0x04, 0x0b], utf8("Web")),
            ([0x55, 0x04, 0x05], DERNode(0x13, Array("4711".utf8))), ([0x2a, 0x03], utf8("?")),
            ([0x55, 0x04, 0x03], utf8("api.example.com")))
        #expect(
            try self.text(name)
                == "CN=api.example.com, OID=?, serialNumber=4711, OU=Web, O=Example, L=München, ST=Bayern, C=DE, DC=com"
        )
    }

    @Test("Latin 1, UTF-16 and UTF-8 values read the same")
    func latin1UTF16AndUTF8ValuesReadTheSame() throws {
        let commonName: [UInt8] = [0x55, 0x04, 0x03]
        for value in [
            DERNode(0x14, [0x4d, 0xfc, 0x6e]), DERNode(0x1e, [0, 0x4d, 0, 0xfc, 0, 0x6e]),
            DERNode(0x0c, [0x4d, 0xc3, 0xbc, 0x6e]),
        ] {
            #expect(try self.text(self.name((commonName, value))) == "CN=Mün")
        }
    }

    @Test("subject and issuer are told apart")
    func subjectAndIssuerAreToldApart() throws {
        let certificate = Cast.leaf.der
        #expect(DistinguishedNameText(subjectOf: certificate)?.description == "CN=api.example.com")
        #expect(DistinguishedNameText(issuerOf: certificate)?.description == "CN=Sketched CA")
        #expect(DistinguishedNameText(subjectOf: SampleCertificate.der)?.description == "CN=p256")
    }

    @Test("an empty name is an empty text, and a certificate that cannot be read has none")
    func emptyNameIsAnEmptyTextAndACertificateThatCannotBeReadHasNone() throws {
        #expect(try self.text(self.name()) == "")
        #expect(DistinguishedNameText(subjectOf: Cast.unreadable) == nil)
        #expect(DistinguishedNameText(issuerOf: []) == nil)
    }

    @Test("the insides of a Name changed byte by byte: a text or an empty one, never a trap")
    func insidesOfANameChangedByteByByteATextOrAnEmptyOneNeverATrap() throws {
        let name = SketchedCertificate.name(commonName: DERNode(0x0c, Array("api.example.com".utf8)))
        var texts: Set<String> = []
        for position in name.body.indices {
            var body = name.body
            for value in UInt8.min...UInt8.max {
                body[position] = value
                texts.insert(try self.text(DERNode(0x30, body)))
            }
        }
        #expect(texts.contains(""))
        #expect(texts.contains("CN=api.example.com"))
        #expect(texts.count > 100)
    }
}
