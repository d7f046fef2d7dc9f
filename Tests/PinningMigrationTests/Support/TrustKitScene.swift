// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import PathValidation
import PinningMigration

/// What an app with TrustKit met: a system that validates, and pins that are looked at afterwards.
struct TrustKitScene {
    let root: TestCertificate
    let intermediate: TestCertificate
    let leaf: TestCertificate

    /// A chain for `api.example.com` that is good.
    init() throws {
        self.root = try .authority("Root")
        self.intermediate = try .authority("Intermediate", by: self.root)
        self.leaf = try .server(by: self.intermediate)
    }

    /// The chain as the server presents it.
    var chain: [TestCertificate] { [self.leaf, self.intermediate] }

    /// The pin of a certificate, as TrustKit has it: base64.
    static func hash(_ certificate: TestCertificate) throws -> String {
        Base64.encode(try Pin(publicKeyOf: certificate.der).digest)
    }

    /// What a configuration of TrustKit comes to for a chain: validated by "the system", then against the pins.
    static func decide(
        _ configuration: [String: Any], for host: String, presented: [[UInt8]], roots: [[UInt8]],
        at time: Int64 = TestCertificate.time
    ) async throws -> PinningDecision {
        let policy = try MigratedPins(trustKit: configuration).policy()
        switch try await validate(presented, roots: roots, host: host, at: time).result {
        case .success(let path): return policy.validate(path, for: host, at: Timestamp(secondsSince1970: time))
        case .failure(let refusal): return policy.refusal(of: host, refusal.reason, detail: refusal.detail)
        }
    }

    /// The same for this scene's chain, and one host with some pins.
    func decide(
        _ hashes: [String], _ changes: [String: Any] = [:], for host: String = "api.example.com",
        pinned: String = "api.example.com", chain: [TestCertificate]? = nil, roots: [TestCertificate]? = nil,
        at time: Int64 = TestCertificate.time
    ) async throws -> PinningDecision {
        let domain = TrustKitConfiguration.domain(["TSKPublicKeyHashes": hashes].merging(changes) { $1 })
        return try await Self.decide(
            TrustKitConfiguration.configuration([pinned: domain]), for: host,
            presented: (chain ?? self.chain).map(\.der), roots: (roots ?? [self.root]).map(\.der), at: time)
    }
}
#endif
