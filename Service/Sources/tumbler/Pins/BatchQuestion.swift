// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CertificateTransparency
import PathValidation

/// One line of `evaluate --batch`.
struct BatchQuestion: Decodable {
    /// The identifier by which the answer is told apart: a text or a number, given back as it came.
    enum Identifier: Codable, Hashable {
        case text(String)
        case number(Int64)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int64.self) {
                self = .number(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number): try container.encode(number)
            }
        }
    }

    let id: Identifier
    let host: String
    let chain: [String]
    let roots: [String]
    let at: String?
    let nameCheck: Bool?
    let pins: [String]?
    let list: String?
    let root: String?
    let logs: String?
    let transparency: String?
    let crls: [String]?
    let revocation: String?

    /// The question that the line asks.
    ///
    /// - Throws: ``InputError`` for a member whose text is not what it must be.
    func evaluation(
        defaultTime: Timestamp, transparency: TransparencyDemand?, revocation: RevocationCheck?,
        _ lists: SignedListCache
    ) async throws(InputError) -> Evaluation {
        let rules = try await self.rules(lists)
        var presented: [[UInt8]] = []
        for text in self.chain { presented += try Self.certificates(in: text) }
        return Evaluation(
            host: self.host, presented: presented, rules: rules, checksName: self.nameCheck ?? true,
            transparency: transparency, revocation: revocation,
            time: try self.at.map { text throws(InputError) in try Timestamp(text) } ?? defaultTime)
    }

    /// The policy of Certificate Transparency that the line asks for; `nil` for none.
    ///
    /// - Throws: ``InputError`` when the policy is not known, the log list cannot be read, or one is without the other.
    func demand(_ logs: LogListCache) async throws(InputError) -> TransparencyDemand? {
        switch (self.logs, self.transparency) {
        case (nil, nil): return nil
        case (let path?, nil) where self.list != nil:
            return TransparencyDemand(policy: nil, logs: try await logs.list(path))
        case (let path?, let name?):
            guard let policy = TransparencyPolicy(named: name) else {
                throw InputError(.policy, "\(name) is not a policy of Certificate Transparency")
            }
            return TransparencyDemand(policy: policy, logs: try await logs.list(path))
        default: throw InputError(.policy, "logs and transparency go together")
        }
    }

    /// The revocation lists that the line asks for; `nil` for none.
    ///
    /// - Throws: ``InputError`` when a list cannot be read, or the demand is not known.
    func revocationCheck(_ cache: RevocationListCache) async throws(InputError) -> RevocationCheck? {
        guard self.crls != nil || self.revocation != nil else { return nil }
        let name = self.revocation ?? RevocationCheck.Demand.ifKnown.rawValue
        guard let demand = RevocationCheck.Demand(rawValue: name) else {
            throw InputError(.policy, "\(name) is not a revocation demand; there are \(RevocationOptions.names)")
        }
        return RevocationCheck(try await cache.lists(self.crls ?? []), demand)
    }

    private func rules(_ lists: SignedListCache) async throws(InputError) -> Evaluation.Rules {
        switch (self.list, self.root) {
        case (let list?, let root?) where self.pins == nil: return .list(try await lists.list(list, root: root))
        case (nil, nil):
            var known: [KnownPin] = []
            for text in self.pins ?? [] { known.append(KnownPin(try Pin(text))) }
            return .pins(known)
        default: throw InputError(.policy, "a list goes with its root, and without pins")
        }
    }

    /// The certificates of a PEM text.
    static func certificates(in text: String) throws(InputError) -> [[UInt8]] {
        let found = try PEMBlock.blocks(in: text.utf8).filter { $0.label == PEMBlock.certificateLabel }.map(\.bytes)
        guard !found.isEmpty else { throw InputError(.pem, "a text without a certificate") }
        return found
    }
}

/// One answer of `evaluate --batch`: the decision, with the question's id.
struct BatchAnswer: Encodable {
    let id: BatchQuestion.Identifier?
    let decision: PinningDecision

    private enum CodingKeys: CodingKey { case id }

    func encode(to encoder: any Encoder) throws {
        try self.decision.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.id, forKey: .id)
    }
}
