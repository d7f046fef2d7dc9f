// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CertificateSightings

@testable import PinListServer

/// Certificates that a monitor found in logs: a renewal that is not in the list, and certificates as expected.
extension Story {
    private static func sighting(
        _ names: [String], _ state: SightingState, key: String, issuer: String = "CN=R11, O=Let's Encrypt, C=US",
        days: Int64, change: (inout SightingViewModel) -> Void = { _ in }
    ) -> SightingViewModel {
        var sighting = SightingViewModel(
            names: names, issuer: issuer, key: self.pin(key), log: "https://ct.example.com/2027h1/",
            loggedAt: self.ago(days * 86_400), toldAt: self.ago(days * 86_400 - 1_200),
            toldBy: "3f2a17c0 certspotter", notBefore: self.ago(days * 86_400), notAfter: self.ahead(days: 90 - days),
            state: state, isEnforced: true, isPrecertificate: false)
        change(&sighting)
        return sighting
    }

    static var certificatesPage: CertificatesPage {
        CertificatesPage(
            hosts: [
                .init(
                    domain: "api.bank.example",
                    certificates: [
                        self.sighting(["api.bank.example"], .unknown, key: "g", days: 9) {
                            $0.isPrecertificate = true
                            $0.networks = 12
                        },
                        self.sighting(["api.bank.example", "www.bank.example"], .pinned, key: "c", days: 40) {
                            $0.probedAt = self.ago(3_600)
                        },
                        self.sighting(["*.bank.example"], .backup, key: "d", days: 3) { $0.loggedAt = nil },
                    ]),
                .init(
                    domain: "login.bank.example",
                    certificates: [
                        self.sighting(["login.bank.example"], .issuer, key: "h", days: 12),
                        self.sighting(["login.bank.example"], .denied, key: "e", days: 88) {
                            $0.acknowledgedBy = "91bc40aa A. Weber"
                        },
                    ]),
            ],
            counts: [.pinned: 1, .backup: 1, .issuer: 1, .denied: 1, .unknown: 1, .unlisted: 1_204], isFiltered: false)
    }
}
