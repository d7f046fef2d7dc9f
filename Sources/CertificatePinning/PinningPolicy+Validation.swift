// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Pin Validation (RFC 7469, section 2.6; formats.md, section 4).
extension PinningPolicy {
    /// Decides on a path that was already validated for a host.
    ///
    /// Looks at nothing but its arguments.
    ///
    /// - Parameters:
    ///   - path: The path that the platform has validated for this host.
    ///   - host: The host that the connection is made for, as the request names it, without a port.
    ///   - time: The reference time (formats.md, section 3.3): the clock's, unless the list in force was issued later.
    /// - Returns: The verdict, with all that is needed to explain it.
    public func validate(_ path: ValidatedPath, for host: String, at time: Timestamp) -> PinningDecision {
        var decision = self.refusal(of: host, .noCertificates, path: path)
        guard decision.reason != .hostInvalid, !path.certificates.isEmpty else { return decision }

        if let denied = self.denied.isEmpty ? nil : self.deniedKey(in: path) {
            decision.denied = denied.match
            if denied.isEnforced { return decision.concluding(.block, .deniedKey, isEnforced: true) }
        }
        if path.publicKeyPins.contains(nil), self.denied.contains(where: \.isEnforced) {
            return decision.concluding(.block, .deniedUndecidable, isEnforced: true)
        }
        if self.isSuspended(decision.entry, at: time) {
            return decision.concluding(.allow, .suspended, isEnforced: false)
        }
        guard let entry = decision.entry else {
            return self.unlistedDecision(decision)
        }
        if let end = entry.expiresAt, time >= end {
            return decision.concluding(.allow, .domainExpired, isEnforced: false)
        }
        if entry.mode == .off { return decision.concluding(.allow, .notPinned, isEnforced: false) }

        (decision.matched, decision.matchedIssuer) = entry.match(in: path)
        guard decision.matched != nil else {
            return decision.concluding(entry.isEnforced ? .block : .allow, .noMatchingPin, isEnforced: entry.isEnforced)
        }
        return decision.concluding(.allow, .pinMatch, isEnforced: entry.isEnforced)
    }

    /// Decides on a request without TLS, before a connection is made for it: refused when pins would be enforced.
    ///
    /// - Parameters:
    ///   - host: The host that the connection would be made for, without a port.
    ///   - time: The reference time.
    /// - Returns: `cleartext`, blocked when the host's entry enforces and allowed when it reports; otherwise what
    ///   ``validate(_:for:at:)`` says of a host that nothing is expected of.
    public func cleartext(to host: String, at time: Timestamp) -> PinningDecision {
        self.decision(withoutPathFor: self.refusal(of: host, .cleartext), at: time)
    }

    /// Decides on a response for a host that came over a connection which was not judged for this host, but for
    /// another one (HTTP/2 and HTTP/3 may do so, RFC 9113, section 9.1.1) or for none that is known.
    ///
    /// - Parameters:
    ///   - host: The host that the request was for, without a port.
    ///   - path: The path that was validated when the connection was made; `nil` when nobody knows it.
    ///   - other: The host that it was validated for, as far as that is known.
    ///   - time: The reference time.
    /// - Returns: What ``validate(_:for:at:)`` says of the path, with `other-host-connection` for a mismatch. Without a
    ///   path `other-host-connection`, blocked when the host's entry enforces and allowed when it reports.
    public func validateResponse(
        for host: String, over path: ValidatedPath?, judgedFor other: String?, at time: Timestamp
    ) -> PinningDecision {
        guard let path else {
            let detail = "the connection that answered was judged for no host that is known"
            return self.decision(
                withoutPathFor: self.refusal(of: host, .otherHostConnection, detail: detail), at: time)
        }
        let decision = self.validate(path, for: host, at: time)
        guard decision.reason == .noMatchingPin else { return decision }
        return decision.explained(
            .otherHostConnection, "the connection that answered was judged for \(other ?? "another host")")
    }

    /// What the rules make of a refusal for want of a validated path: it stands where pins would be enforced.
    private func decision(withoutPathFor refusal: PinningDecision, at time: Timestamp) -> PinningDecision {
        guard refusal.reason != .hostInvalid else { return refusal }
        if self.isSuspended(refusal.entry, at: time) {
            return refusal.concluding(.allow, .suspended, isEnforced: false)
        }
        guard let entry = refusal.entry else {
            return self.unlistedDecision(refusal)
        }
        if let end = entry.expiresAt, time >= end {
            return refusal.concluding(.allow, .domainExpired, isEnforced: false)
        }
        if entry.mode == .off { return refusal.concluding(.allow, .notPinned, isEnforced: false) }
        return refusal.concluding(
            entry.isEnforced ? .block : .allow, refusal.reason, isEnforced: entry.isEnforced)
    }

    /// The refusal of a connection that never had a validated path: `chain-invalid`, `no-certificates`, `over-budget`
    /// or `cleartext`. A host that does not normalise is refused as that, whatever the reason given.
    ///
    /// - Parameters:
    ///   - host: The host that the connection is made for.
    ///   - reason: Why it is refused.
    ///   - detail: What a person should know of it, in one sentence.
    ///   - path: What there is of a path; by default nothing.
    public func refusal(
        of host: String,
        _ reason: PinningDecision.Reason,
        detail: String? = nil,
        path: ValidatedPath = ValidatedPath(uncheckedValidatedPath: [])
    ) -> PinningDecision {
        do throws(InputError) {
            let name = try HostName(host)
            return PinningDecision(
                host: name.description, entry: self.entry(for: name), path: path, list: self.list,
                refusedFor: reason, detail: detail)
        } catch {
            // As it was given, but for what no host is long enough to need.
            let given = String(host.unicodeScalars.prefix(2 * HostName.maximumLength))
            return PinningDecision(
                host: given, entry: nil, path: path, list: self.list, refusedFor: .hostInvalid, detail: error.reason)
        }
    }

    /// What the rule for hosts that no entry covers comes to.
    private func unlistedDecision(_ decision: PinningDecision) -> PinningDecision {
        switch self.unlisted {
        case .allow: decision.concluding(.allow, .notPinned, isEnforced: false)
        case .report: decision.concluding(.allow, .unlistedReported, isEnforced: false)
        case .deny: decision.concluding(.block, .unlistedDenied, isEnforced: true)
        }
    }

    /// The first denied key of a path: an enforced one if there is any, else one that is only reported.
    private func deniedKey(in path: ValidatedPath) -> (match: PinningDecision.Match, isEnforced: Bool)? {
        var reported: PinningDecision.Match?
        for entry in self.denied {
            guard let index = path.index(matching: entry.pin) else { continue }
            let match = PinningDecision.Match(pin: entry.pin, index: index)
            if entry.isEnforced { return (match, true) }
            reported = reported ?? match
        }
        return reported.map { ($0, false) }
    }
}

extension PinnedDomain {
    /// What matches in a path: a pin, and with ``requireIssuer`` a leaf pin and an issuer pin, or nothing at all.
    fileprivate func match(in path: ValidatedPath) -> (PinningDecision.Match?, issuer: PinningDecision.Match?) {
        func first(_ isEligible: (KnownPin) -> Bool) -> PinningDecision.Match? {
            var best: PinningDecision.Match?
            for known in self.pins where isEligible(known) {
                guard let index = path.index(matching: known.pin, in: known.position) else { continue }
                if index < best?.index ?? .max { best = PinningDecision.Match(pin: known.pin, index: index) }
            }
            return best
        }
        guard self.requireIssuer else { return (first { _ in true }, nil) }
        guard let leaf = first({ $0.position == .leaf }), let issuer = first({ $0.position == .issuer }) else {
            return (nil, nil)
        }
        return (leaf, issuer)
    }
}
