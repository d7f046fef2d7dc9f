// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Pin Validation (RFC 7469, section 2.6; formats.md, section 4).
extension PinningPolicy {
    /// Decides on a path that was already validated for a host.
    ///
    /// A pure function of its arguments.
    ///
    /// - Parameters:
    ///   - path: The path that the platform has validated for this host.
    ///   - host: The host that the connection is made for, as the request names it, without a port.
    ///   - time: The reference time (formats.md, section 3.3): the clock's, unless the list in force was issued later.
    /// - Returns: The verdict, with all that is needed to explain it.
    public func validate(_ path: ValidatedPath, for host: String, at time: Timestamp) -> PinningDecision {
        self.decision(on: host, path) { entry in self.conclusion(on: path, entry, at: time) }
    }

    /// Decides on a request without TLS, before a connection is made for it: refused when pins would be enforced.
    ///
    /// - Parameters:
    ///   - host: The host that the connection would be made for, without a port.
    ///   - time: The reference time.
    /// - Returns: `cleartext`, blocked when the host's entry enforces and allowed when it reports; otherwise what
    ///   ``validate(_:for:at:)`` returns for a host without expected pins.
    public func cleartext(to host: String, at time: Timestamp) -> PinningDecision {
        self.decision(on: host) { entry in self.conclusion(without: .cleartext, entry, at: time) }
    }

    /// Decides on a response for a host that came over a connection which was not evaluated for this host, but for
    /// another one (HTTP/2 and HTTP/3 may do so, RFC 9113, section 9.1.1) or for none that is known.
    ///
    /// - Parameters:
    ///   - host: The host that the request was for, without a port.
    ///   - path: The path that was validated when the connection was made; `nil` when it is not known.
    ///   - other: The host that it was validated for, as far as that is known.
    ///   - time: The reference time.
    /// - Returns: What ``validate(_:for:at:)`` returns for the path, with `other-host-connection` for a mismatch.
    ///   Without a path `other-host-connection`, blocked when the host's entry enforces and allowed when it reports.
    public func validateResponse(
        for host: String, over path: ValidatedPath?, evaluatedFor other: String?, at time: Timestamp
    ) -> PinningDecision {
        guard let path else {
            let detail = "the connection that answered was evaluated for no known host"
            return self.decision(on: host, detail: detail) { entry in
                self.conclusion(without: .otherHostConnection, entry, at: time)
            }
        }
        let decision = self.validate(path, for: host, at: time)
        guard decision.reason == .noMatchingPin else { return decision }
        return decision.explained(
            .otherHostConnection, "the connection that answered was evaluated for \(other ?? "another host")")
    }

    /// The refusal of a connection that never had a validated path: `chain-invalid`, `no-certificates`, `over-budget`
    /// or `cleartext`. A host that does not normalise is refused as `host-invalid` under any reason.
    ///
    /// - Parameters:
    ///   - host: The host that the connection is made for.
    ///   - reason: The reason of the refusal.
    ///   - detail: A detail for people, in one sentence.
    ///   - path: The path as far as there is one; by default empty.
    public func refusal(
        of host: String,
        _ reason: PinningDecision.Reason,
        detail: String? = nil,
        path: ValidatedPath = ValidatedPath(uncheckedValidatedPath: [])
    ) -> PinningDecision {
        self.decision(on: host, path, detail: detail) { _ in .refusal(reason) }
    }

    /// Decides on a host by a conclusion for the entry that applies to it. A host that does not normalise is refused.
    @inline(__always)
    private func decision(
        on host: String, _ path: ValidatedPath = ValidatedPath(uncheckedValidatedPath: []), detail: String? = nil,
        _ conclusion: (PinnedDomain?) -> PinningDecision.Conclusion
    ) -> PinningDecision {
        do throws(InputError) {
            let name = try HostName(host)
            let entry = self.entry(for: name)
            return PinningDecision(
                host: name.description, entry: entry, path: path, list: self.list, conclusion(entry), detail: detail)
        } catch {
            // The host as it was given, cut to the longest that a host can be.
            let given = String(host.unicodeScalars.prefix(2 * HostName.maximumLength))
            return PinningDecision(
                host: given, entry: nil, path: path, list: self.list, .refusal(.hostInvalid), detail: error.reason)
        }
    }

    /// The conclusion for a path that was validated.
    private func conclusion(
        on path: ValidatedPath, _ entry: PinnedDomain?, at time: Timestamp
    ) -> PinningDecision.Conclusion {
        guard !path.certificates.isEmpty else { return .refusal(.noCertificates) }
        guard !self.denied.isEmpty || !self.revoked.isEmpty else {
            return self.conclusion(of: entry, on: path, at: time)
        }
        let denied = self.deniedKey(in: path)
        var revoked: PinningDecision.RevokedCertificate?
        var conclusion: PinningDecision.Conclusion
        if let denied, denied.isEnforced {
            conclusion = .refusal(.deniedKey)
        } else if path.publicKeyPins.contains(nil), self.denied.contains(where: \.isEnforced) {
            conclusion = .refusal(.deniedUndecidable)
        } else {
            switch self.revoked.isEmpty ? .nothing : self.revocations.finding(in: path) {
            case .revoked(let certificate, let isEnforced):
                revoked = certificate
                conclusion = isEnforced ? .refusal(.revoked) : self.conclusion(of: entry, on: path, at: time)
            case .undecidable: conclusion = .refusal(.deniedUndecidable)
            case .nothing: conclusion = self.conclusion(of: entry, on: path, at: time)
            }
        }
        conclusion.denied = denied?.match
        conclusion.revoked = revoked
        return conclusion
    }

    /// The conclusion from an entry for a path in which nothing is denied or revoked.
    private func conclusion(
        of entry: PinnedDomain?, on path: ValidatedPath, at time: Timestamp
    ) -> PinningDecision.Conclusion {
        var conclusion = self.conclusion(without: .noMatchingPin, entry, at: time)
        guard conclusion.reason == .noMatchingPin, let entry else { return conclusion }
        let (matched, issuer) = entry.match(in: path)
        guard let matched else { return conclusion }
        conclusion = PinningDecision.Conclusion(.allow, .pinMatch, isEnforced: entry.isEnforced)
        conclusion.matched = matched
        conclusion.matchedIssuer = issuer
        return conclusion
    }

    /// The conclusion when no pin matches, or there is no path to match: a refusal with this reason where pins would be
    /// enforced, unless the kill switch holds for the host, no entry covers it, or its entry has expired or is off.
    private func conclusion(
        without reason: PinningDecision.Reason, _ entry: PinnedDomain?, at time: Timestamp
    ) -> PinningDecision.Conclusion {
        typealias Conclusion = PinningDecision.Conclusion
        if self.isSuspended(entry, at: time) { return Conclusion(.allow, .suspended, isEnforced: false) }
        guard let entry else {
            return switch self.unlisted {
            case .allow: Conclusion(.allow, .notPinned, isEnforced: false)
            case .report: Conclusion(.allow, .unlistedReported, isEnforced: false)
            case .deny: .refusal(.unlistedDenied)
            }
        }
        if let end = entry.expiresAt, time >= end { return Conclusion(.allow, .domainExpired, isEnforced: false) }
        if entry.mode == .off { return Conclusion(.allow, .notPinned, isEnforced: false) }
        return Conclusion(entry.isEnforced ? .block : .allow, reason, isEnforced: entry.isEnforced)
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
    /// The pins that match in a path: one pin, or with ``requireIssuer`` a leaf pin and an issuer pin; `nil` for no
    /// match.
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
