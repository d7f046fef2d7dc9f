// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PinReportAnalysis

@Suite("Names of issuers")
struct IssuerNameTests {
    @Test(
        "products that intercept, as they name themselves",
        arguments: [
            ("CN=mitmproxy, O=mitmproxy", "mitmproxy"),
            ("CN=Charles Proxy CA (1 Jan 2026\\, host), OU=https://charlesproxy.com/ssl, O=XK72 Ltd, C=NZ", "Charles"),
            ("CN=PortSwigger CA, OU=PortSwigger CA, O=PortSwigger", "Burp Suite"),
            ("CN=DO_NOT_TRUST_FiddlerRoot, O=DO_NOT_TRUST, OU=Created by http://www.fiddler2.com", "Fiddler"),
            ("CN=Zscaler Intermediate Root CA (zscaler.net), O=Zscaler Inc.", "Zscaler"),
            ("CN=ca.acme.goskope.com, O=Netskope Inc.", "Netskope"),
            ("CN=FortiGate CA, O=Fortinet", "Fortinet"), ("CN=Sophos SSL CA_C0", "Sophos"),
            ("CN=Kaspersky Anti-Virus Personal Root Certificate, O=AO Kaspersky Lab", "Kaspersky"),
            ("CN=ESET SSL Filter CA, O=ESET\\, spol. s r. o.", "ESET"),
            ("CN=Avast Web/Mail Shield Root, O=Avast Web/Mail Shield", "Avast"),
            ("CN=Bitdefender Personal CA.Net-Defender", "Bitdefender"),
            ("CN=Norton Web/Mail Shield Root", "Norton"), ("CN=Cisco Umbrella Secondary SubCA", "Cisco Umbrella"),
            ("O=Palo Alto Networks", "Palo Alto Networks"), ("CN=BLUE COAT proxy", "Blue Coat"),
        ])
    func productsThatInterceptAsTheyNameThemselves(name: String, product: String) {
        #expect(KnownInterceptor.named(in: name)?.name == product)
        #expect(!PublicAuthority.isNamed(in: name))
    }

    @Test(
        "other names, and words that only hold such a name",
        arguments: [
            "", "CN=R11, O=Let's Encrypt", "CN=Reset Authority", "CN=Philosophos", "CN=Nortonville", "O=Asquidia",
            "CN=Amazon RSA 2048 M02, O=Amazon, C=US", "O=ésetö",
        ])
    func otherNamesAndWordsThatOnlyHoldSuchAName(name: String) { #expect(KnownInterceptor.named(in: name) == nil) }

    @Test("an authority is known by its organisation, word by word")
    func authorityIsKnownByItsOrganisationWordByWord() {
        for name in [
            "CN=R11, O=Let's Encrypt, C=US", "CN=x, O=GoDaddy.com\\, Inc., L=y", "O=DIGICERT INC",
            "CN=WE1, O=Google Trust Services",
        ] { #expect(PublicAuthority.isNamed(in: name), "\(name)") }
        for name in [
            "", "CN=DigiCert Inc", "O=My DigiCert Inc", "CN=x\\, O=DigiCert Inc", "O=DigiCert Inc x", "OU=Amazon",
            "O=", "=", ",", "\\",
        ] { #expect(!PublicAuthority.isNamed(in: name), "\(name)") }
    }
}
