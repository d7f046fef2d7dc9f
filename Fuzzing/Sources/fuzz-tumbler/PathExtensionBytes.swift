// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PathValidation

/// Name constraints and policies along a path of four whose signatures hold: nothing that is written there may end the
/// process, cost more than the budget, or let more through than would be without it.
///
/// Parts, each a byte that says what it is, a length in two bytes, and its bytes: the value of an extension or the names
/// of a subject, of the leaf, of a CA or of the anchor. A later part takes the place of an earlier one of its kind.
enum PathExtensionBytes: FuzzTarget {
    static let name = "path-extensions"

    /// The kinds of parts, in the order of their numbers: extensions by the last number of their identifiers, 0 for a
    /// subject.
    private static let kinds: [UInt8] = [
        nameConstraints, alternativeNames, certificatePolicies, policyMappings, policyConstraints, inhibitAnyPolicy, 0,
        0,
    ]
    private static let alternativeNames: UInt8 = 17
    private static let nameConstraints: UInt8 = 30
    private static let certificatePolicies: UInt8 = 32
    private static let policyMappings: UInt8 = 33
    private static let policyConstraints: UInt8 = 36
    private static let inhibitAnyPolicy: UInt8 = 54

    static func check(_ bytes: [UInt8]) {
        let forms = Self.forms(bytes)
        guard let path = Self.path(forms) else { return }
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            await Self.check(path, forms, inputSize: bytes.count)
            done.signal()
        }
        done.wait()
    }

    private static func check(_ path: [[UInt8]], _ forms: [SignedCertificate.Form], inputSize: Int) async {
        let limits = PathLimits.standard
        let outcome = await Self.outcome(of: path)
        let again = await Self.outcome(of: path)
        precondition(again.result == outcome.result && again.work == outcome.work, "another answer the second time")
        // The count at a time is no more than one certificate says.
        precondition(outcome.work.nameComparisons <= limits.nameComparisons + 8 * (inputSize + 1_024))
        precondition(outcome.work.policySteps <= limits.policySteps + inputSize + 1_024)
        precondition(outcome.work.signatureChecks <= limits.signatureChecks)
        precondition(outcome.work.candidateSteps <= limits.candidateSteps)
        let isWithin =
            outcome.work.nameComparisons <= limits.nameComparisons && outcome.work.policySteps <= limits.policySteps
        switch outcome.result {
        case .failure(let refusal): precondition(isWithin == (refusal.reason != .overBudget))
        case .success(let found):
            precondition(isWithin && found.certificates == path)
            // In another order it is the same path.
            let turned = await Self.outcome(of: [path[0], path[2], path[1], path[3]])
            precondition(turned.result == outcome.result, "another answer in another order")
            // Constraints and policies only ever refuse.
            if let free = Self.path(forms.map(Self.unconstrained)) {
                let free = await Self.outcome(of: free)
                precondition((try? free.result.get()) != nil, "accepted only with its constraints")
            }
        }
    }

    /// Validates a path, the anchor last, as that of an untrusted peer.
    private static func outcome(of path: [[UInt8]]) async -> PathOutcome {
        await PathValidator(roots: RootStore(certificates: path.suffix(1))) { 0 }
            .validate(
                presented: Array(path.dropLast()), as: .uncheckedName,
                at: Timestamp(secondsSince1970: 1_795_219_200))
    }

    /// The certificates, the leaf first.
    private static func path(_ forms: [SignedCertificate.Form]) -> [[UInt8]]? {
        var path: [[UInt8]] = []
        var issuer: SignedCertificate?
        for (index, form) in forms.enumerated().reversed() {
            guard let certificate = SignedCertificate(form, seed: UInt8(index + 1), by: issuer) else { return nil }
            path.insert(certificate.der, at: 0)
            issuer = certificate
        }
        return path
    }

    /// The forms of the leaf, two CAs and the anchor that the bytes ask for.
    private static func forms(_ bytes: [UInt8]) -> [SignedCertificate.Form] {
        var forms = (0..<4).map { index in
            SignedCertificate.Form(subject: Self.commonName(UInt8(ascii: "a") + UInt8(index)), isAuthority: index > 0)
        }
        var rest = bytes[...]
        while let head = rest.popFirst(), let high = rest.popFirst(), let low = rest.popFirst() {
            let value = Array(rest.prefix(Int(high) << 8 | Int(low)))
            rest = rest.dropFirst(value.count)
            let kind = Self.kinds[Int(head >> 2 & 7)]
            if kind == 0 {
                forms[Int(head & 3)].subject = value
            } else {
                forms[Int(head & 3)].extensions[kind] = .init(bytes: value, isCritical: head & 0x20 != 0)
            }
        }
        return forms
    }

    private static func unconstrained(_ form: SignedCertificate.Form) -> SignedCertificate.Form {
        var form = form
        form.extensions = form.extensions.filter { $0.key == Self.alternativeNames }
        return form
    }

    /// A name of one letter.
    private static func commonName(_ letter: UInt8) -> [UInt8] {
        [0x31, 0x0c, 0x30, 0x0a, 0x06, 0x03, 0x55, 0x04, 0x03, 0x0c, 0x03, 0x43, 0x41, letter]
    }
}
