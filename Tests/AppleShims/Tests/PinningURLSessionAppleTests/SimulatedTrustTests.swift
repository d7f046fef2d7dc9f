// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Testing

@Suite("The shim of Security evaluates real certificates")
struct SimulatedTrustTests {
    private func trust(_ der: [[UInt8]], host: String) throws -> SecTrust {
        let chain = der.compactMap { SecCertificateCreateWithData(nil, Data($0) as CFData) }
        var trust: SecTrust?
        let status = SecTrustCreateWithCertificates(
            chain as CFArray, SecPolicyCreateSSL(true, host as CFString), &trust)
        #expect(status == errSecSuccess)
        return try #require(trust)
    }

    @Test("an anchored chain is trusted, and its path has the anchor that was not presented")
    func anchoredChainIsTrustedAndItsPathHasTheAnchorThatWasNotPresented() throws {
        let stage = try Stage("trust.example")
        let trust = try self.trust(stage.presented, host: stage.host)
        var error: CFError?
        #expect(SecTrustEvaluateWithError(trust, &error))
        #expect(error == nil)
        let path = try #require(SecTrustCopyCertificateChain(trust) as? [SecCertificate])
        #expect(path.map { [UInt8](SecCertificateCopyData($0) as Data) } == stage.pki.path.map(\.der))
        #expect(SimulatedSystem.changes(of: trust).isEmpty)
        #expect(SimulatedSystem.evaluations(of: trust) == 1)
        #expect(!SimulatedSystem.wasEvaluatedOnMainThread(leaf: stage.pki.leaf.der))
    }

    @Test("another host, another root and another time are refused, each with its code")
    func anotherHostAnotherRootAndAnotherTimeAreRefusedEachWithItsCode() throws {
        let stage = try Stage("refused.example")
        func status(_ trust: SecTrust) -> Int? {
            var error: CFError?
            return SecTrustEvaluateWithError(trust, &error) ? nil : error?.code
        }
        #expect(status(try self.trust(stage.presented, host: "other.example")) == Int(errSecHostNameMismatch))
        let foreign = try TestPKI([stage.host])
        #expect(status(try self.trust(foreign.chain.map(\.der), host: stage.host)) == Int(errSecNotTrusted))
        let old = try self.trust(stage.presented, host: stage.host)
        SecTrustSetVerifyDate(old, Date(timeIntervalSince1970: 4e9) as CFDate)
        #expect(status(old) == Int(errSecCertificateExpired))
        #expect(SimulatedSystem.changes(of: old) == ["SecTrustSetVerifyDate"])
    }

    @Test("anchors of the app come in place of the system's, or beside them")
    func anchorsOfTheAppComeInPlaceOfTheSystemsOrBesideThem() throws {
        let own = try TestPKI(["anchors.example"])
        let stage = try Stage("anchors.example")
        let root = try #require(SecCertificateCreateWithData(nil, Data(own.root.der) as CFData))
        let trust = try self.trust(own.chain.map(\.der), host: "anchors.example")
        #expect(!SecTrustEvaluateWithError(trust, nil))
        SecTrustSetAnchorCertificates(trust, [root] as CFArray)
        #expect(SecTrustEvaluateWithError(trust, nil))
        let system = try self.trust(stage.presented, host: "anchors.example")
        SecTrustSetAnchorCertificates(system, [root] as CFArray)
        #expect(!SecTrustEvaluateWithError(system, nil))
        SecTrustSetAnchorCertificatesOnly(system, false)
        #expect(SecTrustEvaluateWithError(system, nil))
        var anchors: CFArray?
        SecTrustCopyCustomAnchorCertificates(system, &anchors)
        #expect((anchors as? [SecCertificate]) == [root])
    }

    @Test("what is no certificate is refused, and nothing stops")
    func whatIsNoCertificateIsRefusedAndNothingStops() {
        #expect(SecCertificateCreateWithData(nil, Data([0x30, 0x03, 0x02, 0x01]) as CFData) == nil)
        var trust: SecTrust?
        #expect(SecTrustCreateWithCertificates([SecCertificate]() as CFArray, nil, &trust) == errSecParam)
    }

    @Test("the policy of a trust object tells host and kind")
    func policyOfATrustObjectTellsHostAndKind() throws {
        let stage = try Stage("policy.example")
        let trust = try self.trust(stage.presented, host: stage.host)
        var policies: CFArray?
        SecTrustCopyPolicies(trust, &policies)
        let policy = try #require((policies as? [SecPolicy])?.first)
        let properties = try #require(SecPolicyCopyProperties(policy) as? [String: Any])
        #expect(properties[kSecPolicyName as String] as? String == stage.host)
        #expect(properties[kSecPolicyOid as String] as? String == kSecPolicyAppleSSL as String)
        #expect(properties[kSecPolicyClient as String] == nil)
        SecTrustSetPolicies(trust, SecPolicyCreateBasicX509())
        #expect(SecTrustEvaluateWithError(trust, nil))
    }

    @Test("a chain of another time is evaluated at its own, and a path that failed is what was presented")
    func chainOfAnotherTimeIsEvaluatedAtItsOwnAndAPathThatFailedIsWhatWasPresented() throws {
        let root = try TestCertificate.authority("old root")
        let leaf = try TestCertificate.server(by: root)
        SimulatedSystem.addAnchor(root.der)
        let early = try self.trust([leaf.der], host: "api.example.com")
        SimulatedSystem.setTime(Date(timeIntervalSince1970: 1_000_000_000), forLeaf: leaf.der)
        #expect(!SecTrustEvaluateWithError(early, nil))
        #expect((SecTrustCopyCertificateChain(early) as? [SecCertificate])?.count == 1)
        SimulatedSystem.setTime(Date(timeIntervalSince1970: Double(TestCertificate.time)), forLeaf: leaf.der)
        let trust = try self.trust([leaf.der], host: "api.example.com")
        #expect((SecTrustCopyCertificateChain(trust) as? [SecCertificate])?.count == 2)
        #expect(SimulatedSystem.evaluations(ofLeaf: leaf.der) == 2)
    }

    @Test("many evaluations at once do not wait for each other forever")
    func manyEvaluationsAtOnceDoNotWaitForEachOtherForever() async throws {
        let stage = try Stage("many.example")
        let presented = stage.presented
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    (try? SecTrustEvaluateWithError(self.trust(presented, host: "many.example"), nil)) ?? false
                }
            }
            for await isTrusted in group { #expect(isTrusted) }
        }
        #expect(SimulatedSystem.evaluations(ofLeaf: stage.pki.leaf.der) == 200)
    }
}

@Suite("The shim's keychain")
struct SimulatedKeychainTests {
    private func query(_ service: String, _ more: [CFString: Any] = [:]) -> CFDictionary {
        let basis: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: "a",
            kSecUseDataProtectionKeychain: true,
        ]
        return basis.merging(more) { $1 } as CFDictionary
    }

    @Test("an item is added once, read, changed and deleted")
    func itemIsAddedOnceReadChangedAndDeleted() {
        let service = "keychain.item"
        var found: CFTypeRef?
        let wanted = self.query(service, [kSecReturnData: true, kSecMatchLimit: kSecMatchLimitOne])
        #expect(SecItemCopyMatching(wanted, &found) == errSecItemNotFound)
        let item = self.query(
            service,
            [
                kSecValueData: Data([1]), kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
                kSecAttrSynchronizable: false,
            ])
        #expect(SecItemAdd(item, nil) == errSecSuccess)
        #expect(SecItemAdd(item, nil) == errSecDuplicateItem)
        #expect(SecItemCopyMatching(wanted, &found) == errSecSuccess)
        #expect(found as? Data == Data([1]))
        let change = [kSecValueData: Data([2])] as [CFString: Any] as CFDictionary
        #expect(SecItemUpdate(self.query(service), change) == errSecSuccess)
        #expect(SecItemCopyMatching(wanted, &found) == errSecSuccess)
        #expect(found as? Data == Data([2]))
        #expect(SecItemDelete(self.query(service)) == errSecSuccess)
        #expect(SecItemDelete(self.query(service)) == errSecItemNotFound)
    }

    @Test("a locked keychain and an app without the entitlement get their codes")
    func lockedKeychainAndAnAppWithoutTheEntitlementGetTheirCodes() {
        let service = "keychain.locked"
        SimulatedSystem.setKeychainLocked(true, service: service)
        #expect(SecItemCopyMatching(self.query(service), nil) == errSecInteractionNotAllowed)
        SimulatedSystem.setKeychainFailure(errSecMissingEntitlement, service: service)
        #expect(SecItemAdd(self.query(service, [kSecValueData: Data()]), nil) == errSecMissingEntitlement)
        SimulatedSystem.setKeychainLocked(false, service: service)
        #expect(SecItemAdd(self.query(service, [kSecValueData: Data()]), nil) == errSecSuccess)
        SimulatedSystem.emptyKeychain(service: service)
        #expect(SecItemCopyMatching(self.query(service), nil) == errSecItemNotFound)
    }
}
