// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import PathValidation
import SwiftASN1
import Testing
import X509

/// Paths for another purpose than TLS: names and extended key usages are the caller's, and the rest holds all the same.
@Suite("A path that is no server's")
struct NoServerTests {
    private func outcome(
        _ presented: [TestCertificate], roots: [TestCertificate], as identity: ServerIdentity = .noServer,
        at time: Int64 = TestCertificate.time
    ) async -> PathOutcome {
        let validator = PathValidator(roots: RootStore(certificates: roots.map(\.der))) { 0 }
        return await validator.validate(
            presented: presented.map(\.der), as: identity, at: Timestamp(secondsSince1970: time))
    }

    @Test("a leaf and a CA for other purposes are accepted as no server's, and never as a server's")
    func leafAndACAForOtherPurposesAreAcceptedAsNoServersAndNeverAsAServers() async throws {
        let root = try TestCertificate.authority("Root")
        let issuer = try TestCertificate.authority("Issuer", by: root) { $0.purposes = [.codeSigning] }
        let leaf = try TestCertificate("leaf", by: issuer) { $0.purposes = [.codeSigning] }
        #expect(await self.outcome([leaf, issuer], roots: [root]).path == [leaf.der, issuer.der, root.der])
        for identity: ServerIdentity in [.uncheckedName, .host(try HostName("api.example.com"))] {
            #expect(await self.outcome([leaf, issuer], roots: [root], as: identity).path == nil)
        }
    }

    @Test("time, signatures, CA marks, path lengths and critical extensions hold for it")
    func timeSignaturesCAMarksPathLengthsAndCriticalExtensionsHoldForIt() async throws {
        let root = try TestCertificate.authority("Root")
        let leaf = try TestCertificate("leaf", by: root)
        #expect(await self.outcome([leaf], roots: [root]).path != nil)
        #expect(await self.outcome([leaf], roots: [root], at: TestCertificate.time + 86_401).path == nil)
        let impostor = try TestCertificate.authority("Root")
        #expect(await self.outcome([leaf], roots: [impostor]).path == nil)
        let noAuthority = try TestCertificate("Issuer", by: root)
        let below = try TestCertificate("below", by: noAuthority)
        #expect(await self.outcome([below, noAuthority], roots: [root]).path == nil)
        let short = try TestCertificate.authority("Short", by: root) { $0.pathLength = 0 }
        let between = try TestCertificate.authority("Between", by: short)
        let last = try TestCertificate("last", by: between)
        #expect(await self.outcome([last, between, short], roots: [root]).path == nil)
        let critical = try TestCertificate("leaf", by: root) {
            $0.others = [Certificate.Extension(oid: [1, 2, 3, 4], critical: true, value: [5, 0])]
        }
        #expect(await self.outcome([critical], roots: [root]).path == nil)
    }

    @Test("the cache keeps it apart from servers' paths")
    func cacheKeepsItApartFromServersPaths() {
        let keys = [ServerIdentity.noServer, .uncheckedName].map {
            PathCache.Key(presented: [[1]], identity: $0, roots: [], limits: .standard)
        }
        #expect(keys[0] != keys[1])
    }
}
#endif
