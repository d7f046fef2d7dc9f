// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AppAttestation
import ArgumentParser
import CertificatePinning
import CommandLineInterface

/// The answer of `tumbler attest` (formats.md, section 8).
struct AttestAnswer: Encodable, Sendable {
    /// The fields that only receipts have.
    struct ReceiptFields: Encodable, Sendable {
        let appId: String
        let type: String
        let created: String
        let notBefore: String?
        let expires: String
        let riskMetric: Int?
        let clientHash: String?
        let token: String?
    }

    private let accepted: Bool
    private let step: Int?
    private let reason: String
    private var environment: String?
    private var counter: UInt32?
    private var keyID: String?
    private var category: UInt32?
    private var bundleVersion: String?
    private var receipt: ReceiptFields?

    /// The question's id, in a batch.
    var id: BatchQuestion.Identifier?
    private var isOfBatch = false

    /// A refusal.
    init(refused step: Int?, _ reason: String) {
        self.accepted = false
        self.step = step
        self.reason = PrintableText.line(reason)
    }

    private init(accepted reason: String) {
        self.accepted = true
        self.step = nil
        self.reason = reason
    }

    /// An attestation that was accepted.
    init(_ verified: VerifiedAttestation) {
        self.init(accepted: "every step holds")
        self.environment = verified.environment.rawValue
        self.counter = 0
        self.keyID = Base64.encode(verified.key.id)
        self.category = verified.category?.rawValue
        self.bundleVersion = verified.bundleVersion
    }

    /// An assertion that was accepted.
    init(_ verified: VerifiedAssertion, _ key: AttestedKey) {
        self.init(accepted: "every step holds")
        self.counter = verified.counter
        self.keyID = Base64.encode(key.id)
        self.category = verified.category?.rawValue
        self.bundleVersion = verified.bundleVersion
    }

    /// A receipt that was accepted.
    init(_ receipt: Receipt) {
        self.init(accepted: "the receipt is Apple's")
        self.environment =
            switch receipt.environment {
            case "production": AttestationEnvironment.production.rawValue
            case "sandbox": AttestationEnvironment.development.rawValue
            default: nil
            }
        self.keyID = Base64.encode(receipt.key.id)
        self.receipt = ReceiptFields(
            appId: receipt.appID, type: receipt.kind.rawValue, created: "\(receipt.created)",
            notBefore: receipt.notBefore.map { "\($0)" }, expires: "\(receipt.expires)", riskMetric: receipt.riskMetric,
            clientHash: receipt.clientHash.map { Base64.encode($0) }, token: receipt.token)
    }

    /// The same as a line of a batch.
    func line(id: BatchQuestion.Identifier?) -> AttestAnswer {
        var answer = self
        answer.id = id
        answer.isOfBatch = true
        return answer
    }

    /// Prints the answer, and ends the command with 1 for a refusal.
    func end(asJSON: Bool) throws {
        if asJSON { try JSONOutput.write(self) } else { try StandardOutput.write(lines: self.lines) }
        guard self.accepted else { throw ExitCode(CommandExit.doesNotHold.rawValue) }
    }

    private var lines: [String] {
        guard self.accepted else {
            return [self.step.map { "refused at step \($0): \(self.reason)" } ?? "refused: \(self.reason)"]
        }
        let parts: [(String, String?)] = [
            ("key id", self.keyID), ("environment", self.environment), ("counter", self.counter.map { "\($0)" }),
            ("category", self.category.map { "\($0)" }), ("version", self.bundleVersion),
            ("app id", self.receipt?.appId), ("type", self.receipt?.type), ("created", self.receipt?.created),
            ("not before", self.receipt?.notBefore), ("expires", self.receipt?.expires),
            ("risk metric", self.receipt?.riskMetric.map { "\($0)" }),
        ]
        return ["accepted: \(self.reason)"]
            + parts.compactMap { name, value in value.map { "  \(name): \(PrintableText.line($0))" } }
    }

    private enum CodingKeys: String, CodingKey {
        case id, accepted, step, reason, environment, counter
        case keyID = "keyId"
        case category, bundleVersion, receipt
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        if self.isOfBatch { try container.encode(self.id, forKey: .id) }
        try container.encode(self.accepted, forKey: .accepted)
        try container.encode(self.step, forKey: .step)
        try container.encode(self.reason, forKey: .reason)
        try container.encode(self.environment, forKey: .environment)
        try container.encode(self.counter, forKey: .counter)
        try container.encode(self.keyID, forKey: .keyID)
        try container.encode(self.category, forKey: .category)
        try container.encode(self.bundleVersion, forKey: .bundleVersion)
        try container.encodeIfPresent(self.receipt, forKey: .receipt)
    }
}
