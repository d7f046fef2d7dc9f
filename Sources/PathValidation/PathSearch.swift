// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import X509

/// Proposes paths from a leaf to an anchor, one at a time, best first, within a budget.
///
/// It stands in front of swift-certificates' own search, which finds the same paths without a bound: 32 cross-signed
/// intermediates (10 KB) took it 3.9 s. Depth first over the issuers of the certificate at hand: anchors before
/// intermediates, those whose key identifier fits before the others. A signature is checked once for each child and
/// issuer key, however many certificates carry that key, and not where the verifier has found it valid.
struct PathSearch {
    /// A proposed path: its names chain and its signatures are valid.
    struct Proposal {
        /// The certificates: leaf first, anchor last.
        let certificates: [CandidateCertificate]

        /// The number of each among the candidates.
        let nodes: [Int]

        /// Whether one of them has unique identifiers, so that the verifier cannot check the path.
        var hasUniqueIdentifiers: Bool { self.certificates.contains { $0.hasUniqueIdentifiers } }
    }

    /// One certificate of the path at hand, with the issuers of it that are still to be tried.
    private struct Frame {
        let node: Int
        var issuers: ArraySlice<Int>
    }

    /// The signature is in the child, over its own bytes; checking it needs only the issuer's key.
    private struct Edge: Hashable {
        let child: Int
        let key: ArraySlice<UInt8>
    }

    private let nodes: [CandidateCertificate]
    private let issuers: [[Int]]
    private let firstAnchor: Int
    private let maximumLength: Int
    private var frames: [Frame] = []
    private var signatures: [Edge: Bool] = [:]

    /// The deepest certificate for which no issuer was found, for the message.
    private(set) var unissued: CandidateCertificate

    /// The path length constraint that the last abandoned path would have violated, for the message.
    private(set) var tooLong: String?

    /// Prepares a search.
    ///
    /// - Parameters:
    ///   - leaf: The beginning of each path.
    ///   - intermediates: The candidates between leaf and anchor.
    ///   - anchors: The possible ends of a path.
    ///   - maximumLength: The maximum number of certificates in a path.
    init(
        from leaf: CandidateCertificate, through intermediates: [CandidateCertificate],
        to anchors: [CandidateCertificate], maximumLength: Int
    ) {
        let nodes = [leaf] + intermediates + anchors
        let firstAnchor = 1 + intermediates.count
        self.nodes = nodes
        self.firstAnchor = firstAnchor
        self.issuers = nodes[..<firstAnchor].map { Self.issuers(of: $0, among: nodes, firstAnchor: firstAnchor) }
        self.maximumLength = maximumLength
        self.unissued = leaf
        self.frames = [Frame(node: 0, issuers: self.issuers[0][...])]
    }

    /// The next path whose names chain and whose signatures are valid; `nil` when there is none.
    mutating func next(spending budget: inout PathBudget) throws(PathValidationError) -> Proposal? {
        while var frame = self.frames.popLast() {
            guard let issuer = frame.issuers.popFirst() else { continue }
            self.frames.append(frame)
            try budget.countStep()
            guard self.mayIssue(issuer),
                try self.signatureHolds(of: frame.node, by: issuer, spending: &budget)
            else { continue }
            if issuer >= self.firstAnchor { return self.proposal(endingIn: issuer) }
            self.unissued = self.nodes[issuer]
            self.frames.append(Frame(node: issuer, issuers: self.issuers[issuer][...]))
        }
        return nil
    }

    /// The path that stands out before a signature was checked: at each step the issuer with the best rank. `nil` where
    /// two issuers have the same rank, and where the best leads to no anchor.
    ///
    /// Looks at each candidate at most once for each certificate of the path: the bounds on both bound this.
    func firstChoice() -> Proposal? {
        var ahead = self
        while let frame = ahead.frames.last {
            guard let place = frame.issuers.firstIndex(where: { ahead.mayIssue($0) }) else { return nil }
            let issuer = frame.issuers[place]
            if let next = frame.issuers[(place + 1)...].first,
                self.rank(of: next, over: frame.node) == self.rank(of: issuer, over: frame.node)
            {
                return nil
            }
            if issuer >= self.firstAnchor { return ahead.proposal(endingIn: issuer) }
            ahead.frames.append(Frame(node: issuer, issuers: self.issuers[issuer][...]))
        }
        return nil
    }

    /// Records that all signatures of a path are valid, so that they are not checked again.
    mutating func noteSignatures(of proposal: Proposal) {
        for (child, issuer) in zip(proposal.nodes, proposal.nodes.dropFirst()) {
            self.signatures[Edge(child: child, key: self.nodes[issuer].publicKey)] = true
        }
    }

    /// The path at hand, completed by an anchor.
    private func proposal(endingIn anchor: Int) -> Proposal {
        let nodes = self.frames.map(\.node) + [anchor]
        return Proposal(certificates: nodes.map { self.nodes[$0] }, nodes: nodes)
    }

    /// Whether a certificate may extend the path at hand: no circle, length left, its own path length constraint kept.
    private mutating func mayIssue(_ issuer: Int) -> Bool {
        let isAnchor = issuer >= self.firstAnchor
        // An intermediate needs an anchor above it.
        guard self.frames.count + (isAnchor ? 1 : 2) <= self.maximumLength else { return false }
        let candidate = self.nodes[issuer]
        if let limit = candidate.pathLengthConstraint {
            // Self-issued certificates do not count (RFC 5280, section 4.2.1.9), nor does the leaf.
            guard self.frames.dropFirst().count(where: { !self.nodes[$0.node].isSelfIssued }) <= limit else {
                self.tooLong = "\(candidate.name): more CAs below it than its path length constraint allows (\(limit))"
                return false
            }
        }
        return !self.frames.contains { self.nodes[$0.node].isSameNode(as: candidate) }
    }

    private mutating func signatureHolds(
        of child: Int, by issuer: Int, spending budget: inout PathBudget
    ) throws(PathValidationError) -> Bool {
        let edge = Edge(child: child, key: self.nodes[issuer].publicKey)
        if let known = self.signatures[edge] { return known }
        try budget.countSignatures()
        let holds = self.nodes[child].isSigned(by: self.nodes[issuer])
        self.signatures[edge] = holds
        return holds
    }

    /// The certificates that could have issued another, by name; those that its key identifier points at come first.
    private static func issuers(
        of child: CandidateCertificate, among nodes: [CandidateCertificate], firstAnchor: Int
    ) -> [Int] {
        func rank(_ index: Int) -> Int { Self.rank(of: nodes[index], isAnchor: index >= firstAnchor, over: child) }
        // Equal ranks stay in the order in which they were presented: `sorted` is stable.
        return nodes.indices.dropFirst().filter { nodes[$0].subject == child.issuer }.sorted { rank($0) < rank($1) }
    }

    private func rank(of issuer: Int, over child: Int) -> Int {
        Self.rank(of: self.nodes[issuer], isAnchor: issuer >= self.firstAnchor, over: self.nodes[child])
    }

    /// The rank of a candidate as the issuer of another: the lowest is tried first.
    private static func rank(
        of candidate: CandidateCertificate, isAnchor: Bool, over child: CandidateCertificate
    ) -> Int {
        let fit: Int =
            switch (child.authorityKey, candidate.subjectKey) {
            case (let wanted?, let key?): wanted == key ? 0 : 2
            default: 1
            }
        return fit * 2 + (isAnchor ? 0 : 1)
    }
}
#endif
