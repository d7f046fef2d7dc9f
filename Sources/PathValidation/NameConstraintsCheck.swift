// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import SwiftASN1
import X509

/// Checks name constraints (RFC 5280, section 4.2.1.10): each certificate's constrain all below it.
///
/// Our own beside swift-certificates' policy, which lets a wildcard name pass that covers an excluded one, applies them
/// to self-issued intermediates, and refuses all directory names. It is always applied. Only where a path has
/// constraints it replaces theirs. One value serves one validation: a certificate is read once,
/// however many paths it is in.
struct NameConstraintsCheck {
    /// The constraints of a certificate, by kind of name.
    private struct Constraints {
        var permitted: [[ConstraintSubtree]]
        var excluded: [[ConstraintSubtree]]
    }

    private var parts = NameParts()
    private var names: [Int: [ConstrainedName]?] = [:]
    private var constraints: [Int: Constraints?] = [:]

    /// Returns why a path violates its name constraints, or `nil` when it does not.
    ///
    /// - Parameters:
    ///   - path: Leaf first, anchor last.
    ///   - nodes: For each certificate its number among the candidates of this validation.
    ///   - budget: The counter of the work.
    /// - Throws: ``PathValidationError`` when there are more names and constraints than the budget has comparisons for.
    mutating func objection(
        to path: [CandidateCertificate], nodes: [Int], spending budget: inout PathBudget
    ) throws(PathValidationError) -> String? {
        for (height, issuer) in path.enumerated().dropFirst() where issuer.hasNameConstraints {
            // A constraint that cannot be understood may exclude any name.
            guard let constraints = try self.constraints(of: issuer, nodes[height], spending: &budget) else {
                return "\(issuer.name): name constraints that are malformed"
            }
            for (depth, subject) in path[..<height].enumerated() {
                // Self-issued certificates are exempt, the last one is not (section 6.1.3 (b)).
                if depth > 0, subject.isSelfIssued { continue }
                guard let names = try self.names(of: subject, nodes[depth], spending: &budget) else {
                    return "\(subject.name): its names cannot be read"
                }
                for name in names {
                    if let objection = try Self.objection(to: name, constraints, spending: &budget) {
                        return "\(subject.name): \(objection) \(issuer.name)"
                    }
                }
            }
        }
        return nil
    }

    private static func objection(
        to name: ConstrainedName, _ constraints: Constraints, spending budget: inout PathBudget
    ) throws(PathValidationError) -> String? {
        let excluded = constraints.excluded[name.kind.rawValue]
        let permitted = constraints.permitted[name.kind.rawValue]
        guard !excluded.isEmpty || !permitted.isEmpty else { return nil }
        let size = name.size
        let cost = { (sum: Int, subtree: ConstraintSubtree) in sum + 1 + min(size, subtree.size) }
        try budget.countNameComparisons(permitted.reduce(excluded.reduce(0, cost), cost))
        for subtree in excluded {
            guard let reaches = name.mayLie(within: subtree) else {
                return "a kind of name that cannot be evaluated, constrained by"
            }
            if reaches { return "a name excluded by" }
        }
        for subtree in permitted {
            guard let lies = name.lies(within: subtree) else {
                return "a kind of name that cannot be evaluated, constrained by"
            }
            if lies { return nil }
        }
        return permitted.isEmpty ? nil : "a name not permitted by"
    }

    /// The subtrees of a certificate; `nil` when they cannot be understood.
    private mutating func constraints(
        of issuer: CandidateCertificate, _ node: Int, spending budget: inout PathBudget
    ) throws(PathValidationError) -> Constraints? {
        if let known = self.constraints[node] { return known }
        let cost = self.parts.cost
        let constraints = Self.constraints(of: issuer.certificate, &self.parts)
        self.constraints.updateValue(constraints, forKey: node)
        try budget.countNameComparisons(self.parts.cost - cost)
        return constraints
    }

    private static func constraints(of certificate: Certificate, _ parts: inout NameParts) -> Constraints? {
        guard let value = certificate.extensions[oid: .X509ExtensionID.nameConstraints]?.value,
            self.hasSubtrees(value), let said = try? certificate.extensions.nameConstraints
        else { return nil }
        let none = [[ConstraintSubtree]](repeating: [], count: ConstrainedName.Kind.allCases.count)
        var constraints = Constraints(permitted: none, excluded: none)
        for subtree in said.permittedSubtrees {
            guard let subtree = ConstraintSubtree(subtree, &parts) else { return nil }
            constraints.permitted[subtree.kind.rawValue].append(subtree)
        }
        for subtree in said.excludedSubtrees {
            guard let subtree = ConstraintSubtree(subtree, &parts) else { return nil }
            constraints.excluded[subtree.kind.rawValue].append(subtree)
        }
        return constraints
    }

    /// Whether there is a sequence of subtrees, and none is empty: the parser treats an empty one as absent.
    private static func hasSubtrees(_ value: ArraySlice<UInt8>) -> Bool {
        guard let root = try? DER.parse(value), case .constructed(let sequences) = root.content else { return false }
        var count = 0
        for sequence in sequences {
            guard case .constructed(let subtrees) = sequence.content, subtrees.contains(where: { _ in true }) else {
                return false
            }
            count += 1
        }
        return count > 0
    }

    /// The subject, its e-mail addresses and the alternative names; `nil` when they cannot be read.
    private mutating func names(
        of subject: CandidateCertificate, _ node: Int, spending budget: inout PathBudget
    ) throws(PathValidationError) -> [ConstrainedName]? {
        if let known = self.names[node] { return known }
        let cost = self.parts.cost
        let names = Self.names(of: subject.certificate, &self.parts)
        self.names.updateValue(names, forKey: node)
        try budget.countNameComparisons(self.parts.cost - cost)
        return names
    }

    private static func names(of certificate: Certificate, _ parts: inout NameParts) -> [ConstrainedName]? {
        var names: [ConstrainedName] = []
        if !certificate.subject.isEmpty { names.append(ConstrainedName(.directoryName(certificate.subject), &parts)) }
        for attribute in certificate.subject.joined() where attribute.type == ConstrainedName.emailAddress {
            names.append(ConstrainedName(.rfc822Name(String(attribute.value) ?? ""), &parts))
        }
        do {
            for name in try certificate.extensions.subjectAlternativeNames ?? SubjectAlternativeNames() {
                names.append(ConstrainedName(name, &parts))
            }
        } catch {
            return nil
        }
        return names
    }
}
#endif
