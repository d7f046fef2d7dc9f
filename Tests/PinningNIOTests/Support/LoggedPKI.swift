// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import SwiftASN1
import X509

/// A server's chain, its leaf with the timestamps of two logs, and without: of one key.
struct LoggedPKI {
    let host: String
    let pki: TestPKI
    let logged: TestCertificate
    let unlogged: TestCertificate
    let logs = [SigningLog("A"), SigningLog("B")]

    /// Makes a chain for a host, whose certificates are for other names as well.
    init(_ host: String, also others: [String] = [], keys: TestPKI.Keys = .p256) throws {
        self.host = host
        let hosts = [host] + others
        self.pki = try TestPKI(hosts, keys: keys)
        let (issuer, key, now) = (self.pki.intermediate, self.pki.leaf.key, TestPKI.now)
        func leaf(_ others: [Certificate.Extension]) throws -> TestCertificate {
            try TestCertificate("server", by: issuer, key: key) { form in
                form.around(now)
                form.names = hosts.map { .dnsName($0) }
                form.keyUsage = KeyUsage(digitalSignature: true)
                form.purposes = [.serverAuth]
                form.others = others
            }
        }
        self.unlogged = try leaf([])
        // What logs sign is the certificate that swift-certificates makes without their timestamps.
        let fields = try CertificateFields(walking: self.unlogged.der)
        let value = try SigningLog.extensionValue(
            of: self.logs, over: Array(self.unlogged.der[fields.toBeSigned]),
            issuerKey: issuer.pin.digest, at: now - 3_600)
        self.logged = try leaf([
            Certificate.Extension(oid: [1, 3, 6, 1, 4, 1, 11129, 2, 4, 2], critical: false, value: value[...])
        ])
    }
}
#endif
