// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// The result of a probe at one address of a host.
public struct ProbedAddress: Hashable, Sendable, Encodable {
    /// The address and its port.
    public let address: String
    /// The decision of an app that enforces; `nil` when the address could not be asked.
    public let decision: PinningDecision?
    /// The lists that installations may still hold and that refuse what it presents; `nil` when none does.
    public let refusal: HeldRefusal?
    /// The reason for which it could not be asked, or its chain does not validate.
    public let error: String?

    /// The pin of the key that it presents; `nil` without a validated path.
    public var pin: Pin? { self.decision?.path.publicKeyPins.first.flatMap { $0 } }

    /// Whether installations are locked out there.
    var locksOut: Bool { self.decision?.verdict == .block || self.refusal.map { !$0.isTolerated } ?? false }

    /// Whether it was found as another one was.
    func isLike(_ other: ProbedAddress) -> Bool { self.decision == other.decision && self.refusal == other.refusal }

    /// One line for people.
    var line: String {
        let words: String
        if let decision {
            let served = self.pin.map { ", serves \($0)" } ?? ""
            let held = self.refusal.map { "; \($0.text)" } ?? ""
            words = "\(decision.verdict.rawValue), \(decision.reason)\(served)\(held)"
        } else {
            words = "could not be asked: \(self.error ?? "")"
        }
        return "\(self.address): \(words)"
    }

    enum CodingKeys: CodingKey { case address, verdict, reason, pin, refusedBy, error }

    /// Writes all members; `null` stands where there is nothing.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.address, forKey: .address)
        try container.encode(self.decision?.verdict, forKey: .verdict)
        try container.encode(self.decision?.reason.description, forKey: .reason)
        try container.encode(self.pin?.description, forKey: .pin)
        try container.encode(self.refusal?.versions ?? [], forKey: .refusedBy)
        try container.encode(self.error, forKey: .error)
    }
}
