// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import AppAttestation
internal import CertificatePinning
internal import Crypto
internal import PinListMetadata
internal import PinListStore
internal import PinReportAnalysis

/// Verifies the assertions that come with reports. What is wrong with one never costs the report.
struct AssertionEvaluator: Sendable {
    /// The outcome of an assertion.
    enum Evaluation: Sendable {
        /// There was none.
        case absent
        /// The assertion does not hold; the first step that failed, where one did.
        case refused(step: Int?, isUnknownKey: Bool)
        /// The assertion holds, for reports about one list.
        case accepted(name: String, use: AssertionUse)
    }

    let names: [String: NameAttestation]
    let store: any ServiceStore
    let challenges: AttestationChallenges

    /// Evaluates a field over a body.
    ///
    /// - Parameters:
    ///   - field: The value of `Tumbler-Assertion`; `nil` where the request has none.
    ///   - body: The bytes of the body, as they came.
    ///   - source: The address that it came from.
    /// - Throws: ``StoreError`` where the store does not answer now: what a report is stored as, it is for good, so its sender
    ///   has to come again. Where that will not pass, the assertion does not hold.
    func evaluate(_ field: String?, over body: [UInt8], from source: SourceAddress?, at now: Timestamp) async throws
        -> Evaluation
    {
        guard let field else { return .absent }
        guard let field = AssertionField(field) else { return .refused(step: nil, isUnknownKey: false) }
        do {
            return try await self.evaluate(field, over: body, from: source, at: now)
        } catch let error as StoreError where error.isLasting {
            return .refused(step: nil, isUnknownKey: false)
        }
    }

    private func evaluate(_ field: AssertionField, over body: [UInt8], from source: SourceAddress?, at now: Timestamp)
        async throws -> Evaluation
    {
        guard let stored = try await self.store.read(for: .stranger, { try $0.attestedKey(field.keyID) }) else {
            return .refused(step: nil, isUnknownKey: true)
        }
        guard let asked = self.names[stored.name], let known = stored.known,
            asked.environment.rawValue == stored.environment, asked.appIDs.contains(stored.appID)
        else { return .refused(step: 4, isUnknownKey: false) }
        let isGiven = try await self.challenges.holds(field.challenge, at: now)
        var network: [UInt8] = []
        if let source { network = try await self.challenges.hash(ofNetwork: source.site, at: now) }
        let verifier = AssertionVerifier(appID: stored.appID, categories: asked.environment.usualCategories)
        do throws(AttestationError) {
            let verified = try await verifier.verify(
                field.assertion, by: known,
                clientData: .bytes(Self.clientData(name: stored.name, challenge: field.challenge, body: body)),
                isChallengeGiven: { isGiven })
            return .accepted(
                name: stored.name, use: AssertionUse(keyID: field.keyID, counter: verified.counter, network: network))
        } catch { return .refused(step: error.step, isUnknownKey: false) }
    }

    /// The client data that an app signs: 32 bytes (formats.md, section 7).
    static func clientData(name: String, challenge: [UInt8], body: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(data: Array("tumbler-report-1".utf8) + [0] + Array(name.utf8) + [0] + challenge + body))
    }

    /// The attestation that a report is stored with.
    ///
    /// - Parameters:
    ///   - asking: The list that asks for an assertion of it; `nil` for none.
    ///   - evaluation: The evaluation of its body's assertion.
    static func attestation(_ asking: String?, _ evaluation: Evaluation) -> ReportAttestation {
        guard let asking else { return .notAsked }
        switch evaluation {
        case .accepted(asking, let use): return ReportAttestation(.attested, of: asking, use: use)
        case .absent, .accepted: return ReportAttestation(.unattested, of: asking)
        case .refused(let step, _): return ReportAttestation(.unattested, of: asking, step: step)
        }
    }
}
