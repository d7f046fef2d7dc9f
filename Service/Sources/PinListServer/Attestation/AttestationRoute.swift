// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import AppAttestation
internal import CertificatePinning
internal import Crypto
internal import HTTPTypes
internal import Hummingbird
internal import PinListMetadata
internal import PinListStore
internal import PinReportAnalysis

/// `POST /v1/attest/challenges` and `POST /v1/attest/keys`: how installations say whose copies of an app they are
/// (formats.md, section 7). No token: what comes is charged like reports, and a key for what verifying it costs.
struct AttestationRoute: Sendable {
    /// The cost of verifying an attestation for each app id, in tokens: a path with two signatures of P-384.
    static let keyTokens = 4

    let names: [String: NameAttestation]
    let store: any ServiceStore
    let challenges: AttestationChallenges
    let keyCounts: AttestedKeyCounts
    let reports: ReportRoute
    let clock: any ServiceClock

    /// Adds the routes. Where no name asks for attestations they answer 404, before anything is charged or read.
    func add(to router: Router<ServiceContext>) {
        router.post("/v1/attest/challenges") { request, context in
            try self.expectNames()
            return try await self.challenge(request, context)
        }
        router.post("/v1/attest/keys") { request, context in
            try self.expectNames()
            return try await self.register(request, context)
        }
    }

    private func expectNames() throws {
        guard self.names.isEmpty else { return }
        throw Problem.notFound("no list of this service asks for attestations")
    }

    private func challenge(_ request: Request, _ context: ServiceContext) async throws -> Response {
        try self.reports.admit(request, context, tokens: 1)
        do {
            let (bytes, endsAt) = try await self.challenges.make(at: self.clock.now)
            return .json(
                .object([
                    .init("challenge", .string(Base64.encode(bytes))), .init("expiresAt", .string(endsAt.description)),
                ]), status: .created)
        } catch let error as StoreError { throw Problem.unavailable(error) }
    }

    private func register(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let maximum = self.names.values.map(\.appIDs.count).max() ?? 1
        try self.reports.admit(request, context, tokens: 1 + Self.keyTokens * maximum)
        let body = try await self.reports.body(of: request, context, upTo: KeyRegistration.maximumBytes)
        let sent: KeyRegistration
        do throws(ReportError) { sent = try KeyRegistration(body) } catch {
            throw Problem(
                .badRequest, "not-a-key",
                "a key is {name, keyId, challenge, attestation}, the last three in base64: \(error.detail)")
        }
        guard let asked = self.names[sent.name] else {
            throw Problem.notFound("no list of this name asks for attestations")
        }
        let digest = Array(SHA256.hash(data: sent.attestation))
        do {
            let store = self.store
            if let known = try await store.read(for: .stranger, { try $0.attestedKey(sent.keyID) }) {
                return try Self.answer(isNew: false, known, sent.name, digest)
            }
            let now = self.clock.now
            guard try await self.challenges.holds(sent.challenge, at: now) else {
                throw Self.refused(2, "the challenge was not given, or is over: ask for a new one")
            }
            let key = try await self.verified(sent, asked, digest, at: now)
            if try await store.append({ try $0.register(key, at: now) }) {
                self.keyCounts.registered(for: key.name)
                return try Self.answer(isNew: true, key, sent.name, digest)
            }
            // Another instance was faster.
            guard let known = try await store.read(for: .stranger, { try $0.attestedKey(sent.keyID) }) else {
                throw StoreError(.unavailable, "a key was removed while it was being registered")
            }
            return try Self.answer(isNew: false, known, sent.name, digest)
        } catch let error as StoreError { throw Problem.unavailable(error) }
    }

    private func verified(
        _ sent: KeyRegistration, _ asked: NameAttestation, _ digest: [UInt8], at now: Timestamp
    ) async throws -> StoredAttestedKey {
        var refusal = AttestationError?.none
        for appID in asked.appIDs {
            let verifier = AttestationVerifier(appID: appID, environment: asked.environment, root: asked.root)
            do throws(AttestationError) {
                let verified = try await verifier.verify(
                    sent.attestation, keyID: sent.keyID, challenge: .bytes(sent.challenge), at: now)
                return StoredAttestedKey(
                    keyID: sent.keyID, name: sent.name, publicKey: verified.key.x963,
                    environment: asked.environment.rawValue,
                    appID: appID, category: verified.category?.rawValue,
                    bundleVersion: verified.bundleVersion.map { PrintableText.line($0, maximumLength: 64) },
                    digest: digest, receipt: asked.keepsReceipts ? verified.receipt : nil)
            } catch {
                refusal = error
                // Only that it is of another app depends on the app id.
                guard error.step == 6 else { break }
            }
        }
        throw Self.refused(refusal?.step, refusal?.reason ?? "no app id is configured")
    }

    private static func answer(
        isNew: Bool, _ key: StoredAttestedKey, _ name: String, _ digest: [UInt8]
    ) throws -> Response {
        guard key.digest == digest, key.name == name else {
            throw Self.refused(nil, "the key is registered already, with another attestation or for another list")
        }
        return Response(
            status: isNew ? .created : .ok, headers: [.contentLength: "0", .cacheControl: "no-store"])
    }

    private static func refused(_ step: Int?, _ reason: String) -> Problem {
        var problem = Problem(.forbidden, "attestation-refused", reason)
        problem.members = [.init("step", step.map { .integer(Int64($0)) } ?? .null)]
        return problem
    }
}

extension HTTPField.Name {
    /// The header field with the assertion of a report: base64 of `{"keyId", "challenge", "assertion"}`.
    static let tumblerAssertion = Self.tumbler("Tumbler-Assertion")
    /// The challenge of the next report.
    static let tumblerChallenge = Self.tumbler("Tumbler-Challenge")
    /// `unknown-key` when the service does not have the key.
    static let tumblerAttestation = Self.tumbler("Tumbler-Attestation")

    // Written in this file: each is a token.
    private static func tumbler(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .from }
}
