// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning

/// Policies along a path (RFC 5280, section 6.1), as `openssl verify -policy_check -policy anyPolicy` answers: the initial
/// set is *any-policy*, and a path is refused when a certificate of it demands an explicit policy and none holds for all of it.
///
/// Of RFC 9618's graph only the newest row is kept, because the answer is only whether a policy holds at the end. So
/// the cost is that of reading, while the tree of RFC 5280 grows with each row (CVE-2023-0464). The anchor's own
/// policies do not bind (section 6.1.1).
struct PolicyGraph {
    /// Whether the newest row has a node for *anyPolicy*; the root of the graph is one.
    private var hasAnyPolicy = true
    /// The policies that the next certificate may name: the expected policies of all other nodes.
    private var expected: Set<CertificatePolicies.Policy> = []
    private var explicitPolicy: Int
    private var policyMapping: Int
    private var inhibitAny: Int

    private init(length: Int) {
        self.explicitPolicy = length + 1
        self.policyMapping = length + 1
        self.inhibitAny = length + 1
    }

    /// Returns why a path violates its policies, or `nil` when it does not.
    ///
    /// - Parameters:
    ///   - path: Leaf first, anchor last.
    ///   - budget: The counter of the policies that are looked at.
    /// - Throws: ``PathValidationError`` when there are more policies than the budget has steps for.
    static func objection(
        to path: [CandidateCertificate], spending budget: inout PathBudget
    ) throws(PathValidationError) -> String? {
        let below = path.dropLast()
        var graph = PolicyGraph(length: below.count)
        for (height, certificate) in below.enumerated().reversed() {
            guard let said = certificate.policies else {
                return "\(certificate.name): its policies cannot be read"
            }
            try budget.countPolicySteps(said.count + graph.expected.count)
            graph.add(said, isSelfIssued: certificate.isSelfIssued, isLast: height == 0)
        }
        guard graph.explicitPolicy == 0, !graph.hasAnyPolicy, graph.expected.isEmpty else { return nil }
        return "a policy for the whole path is demanded, but there is none"
    }

    private mutating func add(_ said: CertificatePolicies, isSelfIssued: Bool, isLast: Bool) {
        // Section 6.1.3 (d) and (e).
        var nodes: Set<CertificatePolicies.Policy> = []
        var hasAnyPolicy = false
        if let named = said.policies {
            nodes = self.hasAnyPolicy ? named : named.intersection(self.expected)
            if said.hasAnyPolicy, self.inhibitAny > 0 || (isSelfIssued && !isLast) {
                nodes.formUnion(self.expected)
                hasAnyPolicy = self.hasAnyPolicy
            }
        }
        // Section 6.1.4 (b). openssl does it for the last certificate, too.
        var expected = nodes
        for mapping in said.mappings { expected.remove(mapping.issuer) }
        if self.policyMapping > 0 {
            for mapping in said.mappings where hasAnyPolicy || nodes.contains(mapping.issuer) {
                expected.insert(mapping.subject)
            }
        }
        self.hasAnyPolicy = hasAnyPolicy
        self.expected = expected

        // Section 6.1.4 (h) to (j), and 6.1.5 (a) and (b). As in openssl a self-issued last certificate counts nothing.
        let step = isSelfIssued ? 0 : 1
        self.explicitPolicy = min(max(self.explicitPolicy - step, 0), said.requireExplicitPolicy ?? .max)
        self.policyMapping = min(max(self.policyMapping - step, 0), said.inhibitPolicyMapping ?? .max)
        self.inhibitAny = min(max(self.inhibitAny - step, 0), said.inhibitAny ?? .max)
    }
}
#endif
