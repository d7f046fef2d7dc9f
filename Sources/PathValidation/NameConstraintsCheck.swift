// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import SwiftASN1
import X509

/// Name constraints (RFC 5280, section 4.2.1.10), each certificate's on all below it.
///
/// Our own beside swift-certificates' policy, which lets a wildcard name pass that covers an excluded one, holds
/// self-issued intermediates to them, and refuses directory names unseen. It is always applied, and only where a path has
/// constraints does it stand in for theirs.
enum NameConstraintsCheck {
    /// Why a path breaks the constraints in it, or `nil` when it does not.
    ///
    /// - Parameter path: Leaf first, anchor last.
    /// - Throws: ``PathRefusal`` when there are more names and constraints than the budget has comparisons for.
    static func objection(
        to path: [CandidateCertificate], spending budget: inout PathBudget
    ) throws(PathRefusal) -> String? {
        for (height, issuer) in path.enumerated().dropFirst() {
            guard issuer.hasNameConstraints else { continue }
            guard let constraints = try? issuer.certificate.extensions.nameConstraints else {
                return "\(issuer.name): its name constraints cannot be read"
            }
            let subtrees = (constraints.permittedSubtrees, constraints.excludedSubtrees)
            // One that cannot be read excludes nobody knows what.
            guard (subtrees.0 + subtrees.1).allSatisfy({ ConstrainedName.isWellFormed(subtree: $0) }) else {
                return "\(issuer.name): a name constraint that is malformed"
            }
            for (depth, subject) in path[..<height].enumerated() {
                // Self-issued certificates are exempt, the last one is not (section 6.1.3 (b)).
                if depth > 0, subject.isSelfIssued { continue }
                guard let names = self.names(of: subject.certificate) else {
                    return "\(subject.name): its names cannot be read"
                }
                try budget.countNameComparisons(names.count * (subtrees.0.count + subtrees.1.count))
                for name in names {
                    if let objection = self.objection(to: name, permitted: subtrees.0, excluded: subtrees.1) {
                        return "\(subject.name): \(objection) \(issuer.name)"
                    }
                }
            }
        }
        return nil
    }

    private static func objection(
        to name: ConstrainedName, permitted: [GeneralName], excluded: [GeneralName]
    ) -> String? {
        for subtree in excluded where name.isSameKind(as: subtree) {
            guard let reaches = name.mayLie(within: subtree) else {
                return "a kind of name that cannot be judged, constrained by"
            }
            if reaches { return "a name excluded by" }
        }
        var isConstrained = false
        for subtree in permitted where name.isSameKind(as: subtree) {
            guard let lies = name.lies(within: subtree) else {
                return "a kind of name that cannot be judged, constrained by"
            }
            if lies { return nil }
            isConstrained = true
        }
        return isConstrained ? "a name not permitted by" : nil
    }

    /// The subject, its e-mail addresses and the alternative names; `nil` when they cannot be read.
    private static func names(of certificate: Certificate) -> [ConstrainedName]? {
        var names: [ConstrainedName] = []
        if !certificate.subject.isEmpty { names.append(ConstrainedName(.directoryName(certificate.subject))) }
        for attribute in certificate.subject.joined() where attribute.type == ConstrainedName.emailAddress {
            names.append(ConstrainedName(.rfc822Name(String(attribute.value) ?? "")))
        }
        do {
            names += (try certificate.extensions.subjectAlternativeNames ?? SubjectAlternativeNames()).map {
                ConstrainedName($0)
            }
        } catch {
            return nil
        }
        return names
    }
}
#endif
