// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

extension RotationPlan {
    /// The next step, by what is known now.
    ///
    /// What is not known is not enough. Only the states decide: the dates of the plan say what is meant, and hold
    /// nothing back.
    ///
    /// - Parameters:
    ///   - facts: The facts.
    ///   - time: Now.
    public func outlook(_ facts: RotationFacts, at time: Timestamp) -> RotationOutlook {
        switch self.state {
        case .planned: self.toAnnounced(facts, at: time)
        case .announced: self.toReady(facts, at: time)
        case .ready: self.toSwitched(facts, at: time)
        case .switched: self.toRetired(facts, at: time)
        case .retired:
            RotationOutlook(
                nil, .holds, advice: "nothing: the rotation is done; destroy the old key when no server needs it",
                wayBack: "none: the old pins are gone; plan a new rotation")
        case .aborted:
            RotationOutlook(
                nil, .holds, advice: "nothing: the rotation was aborted", wayBack: "plan a new rotation")
        }
    }

    private func toAnnounced(_ facts: RotationFacts, at time: Timestamp) -> RotationOutlook {
        RotationOutlook(
            .announced, facts.objections.isEmpty ? .holds : .closed, facts.objections, since: self.since,
            earliest: facts.objections.isEmpty ? time : nil, planned: self.announceAt,
            advice: facts.objections.isEmpty
                ? "tumbler rotate next \(self.host): writes the new pin into the source and releases it"
                : "mend what is missing, or tumbler rotate abort \(self.host)",
            wayBack: "tumbler rotate abort \(self.host): nothing was published yet")
    }

    private static let newIsNotPublished =
        "the published list does not have the new pin in every entry that is concerned"

    private func toReady(_ facts: RotationFacts, at time: Timestamp) -> RotationOutlook {
        let wayBack = "tumbler rotate abort \(self.host): the new pin goes; the old key is served and stays pinned"
        var missing: [String] = []
        var gate = RotationOutlook.Gate.holds
        if !facts.isNewPublished {
            missing.append(Self.newIsNotPublished)
            gate = .closed
        }
        if let answer = facts.gate {
            if answer.verdict != .safe { missing.append("the gate says \(answer.verdict.rawValue): \(answer.reason)") }
            if answer.verdict == .unsafe { gate = .closed }
            if answer.verdict == .unknown, gate == .holds { gate = .unknown }
        } else {
            missing.append("the gate was not asked")
            if gate == .holds { gate = .unknown }
        }
        let early = (facts.addresses ?? []).filter { $0.pins.map(self.new.isIn) ?? false }.map(\.address)
        let warning =
            early.isEmpty
            ? "" : "; the new key is served already by \(early.joined(separator: ", ")): put the old one back there"
        return RotationOutlook(
            .ready, gate, missing, since: self.since,
            earliest: missing.isEmpty ? time : facts.expectedOpening.map { max($0, time) }, planned: self.switchAt,
            advice: (missing.isEmpty
                ? "tumbler rotate next \(self.host), then deploy the new key, one address first"
                : "wait until installations have the list") + warning,
            wayBack: wayBack)
    }

    private func toSwitched(_ facts: RotationFacts, at time: Timestamp) -> RotationOutlook {
        let wayBack = "put the old key back on the servers: it stays pinned; then tumbler rotate abort \(self.host)"
        let unseen = self.missingNew(facts, at: time)
        // The keys that every address serves are a fact, which the gate does not change.
        if unseen.isEmpty {
            return RotationOutlook(
                .switched, .holds, earliest: time, planned: self.switchAt,
                advice: "tumbler rotate next \(self.host)", wayBack: wayBack)
        }
        if !self.isNewWhereSeen(facts), let answer = facts.gate, answer.verdict != .safe {
            return RotationOutlook(
                .announced, .holds,
                ["the gate is no longer safe, it says \(answer.verdict.rawValue): \(answer.reason)"],
                since: time, isBack: true,
                advice: "deploy nothing, and put the old key back where the new one is served; "
                    + "tumbler rotate next \(self.host) leads back to announced",
                wayBack: wayBack)
        }
        return RotationOutlook(
            .switched, self.openness(facts), unseen, since: self.since, earliest: max(self.switchAt, time),
            planned: self.switchAt,
            advice: "deploy the new key, one address first; tumbler probe sees each", wayBack: wayBack)
    }

    /// Whether every address that was asked has the new key, though some could not be asked: to lead back would put the old
    /// key on servers that were switched.
    private func isNewWhereSeen(_ facts: RotationFacts) -> Bool {
        let addresses = facts.addresses ?? []
        let seen = addresses.compactMap(\.pins)
        return !seen.isEmpty && seen.allSatisfy(self.new.isIn)
            && !addresses.contains { $0.sight == .unseen(KeySightings.Address.noAnswer) }
    }

    /// The addresses that do not serve the new key, or why that is not known.
    private func missingNew(_ facts: RotationFacts, at time: Timestamp) -> [String] {
        if let addresses = facts.addresses {
            guard !addresses.isEmpty else { return ["the host has no address that could be asked"] }
            return addresses.compactMap { address -> String? in
                switch address.sight {
                case .served(let pins):
                    return self.new.isIn(pins) ? nil : "\(address.address) does not serve the new key"
                case .unseen(let reason): return "\(address.address) \(reason)"
                }
            }
        }
        guard let sightings, sightings.newEverywhereSince != nil else {
            return ["no probe saw the new key at every address"]
        }
        return Self.isFresh(sightings, at: time) ? [] : ["the last look at every address is of \(sightings.at)"]
    }

    /// Whether the last look says something of today. One that a wrong clock dated ahead may be of any day.
    private static func isFresh(_ sightings: KeySightings, at time: Timestamp) -> Bool {
        !sightings.isAhead(of: time) && sightings.at.adding(RotationOutlook.freshSeconds) >= time
    }

    /// An address that did not answer may serve anything: that is not known, and not closed.
    private func openness(_ facts: RotationFacts) -> RotationOutlook.Gate {
        guard let addresses = facts.addresses else {
            // A look of some days ago says nothing of today.
            return self.sightings.map { $0.newEverywhereSince == nil } ?? false ? .closed : .unknown
        }
        return addresses.compactMap(\.pins).allSatisfy(self.new.isIn) ? .unknown : .closed
    }

    /// The addresses of which it is not known what they serve, a line for each reason.
    private static func gaps(in addresses: [KeySightings.Address]) -> [String] {
        var reasons: [String] = []
        var places: [String: [String]] = [:]
        for address in addresses {
            guard case .unseen(let reason) = address.sight else { continue }
            if places[reason] == nil { reasons.append(reason) }
            places[reason, default: []].append(address.address)
        }
        return reasons.map { "\(places[$0, default: []].joined(separator: ", ")) \($0)" }
    }

    private func toRetired(_ facts: RotationFacts, at time: Timestamp) -> RotationOutlook {
        var missing: [String] = []
        var gate = RotationOutlook.Gate.holds
        var earliest: Timestamp? = time
        func close(_ reason: String, _ state: RotationOutlook.Gate = .closed) {
            missing.append(reason)
            if gate != .closed { gate = state }
        }
        for gap in Self.gaps(in: facts.addresses ?? []) { close(gap, .unknown) }
        // The probe before this one may be dated ahead, by a clock that was wrong: then this one did not join it.
        let serving = (facts.addresses ?? []).filter { address in
            address.pins.map { path in self.old.contains { $0.isIn(path) } } ?? false
        }.map(\.address)
        if !serving.isEmpty {
            close("\(serving.joined(separator: ", ")) serves an old key")
            earliest = time.adding(RotationOutlook.quietSeconds)
        } else if let sightings, let since = sightings.oldNowhereSince {
            let quiet = since.adding(RotationOutlook.quietSeconds)
            if quiet > time {
                close("no old key was seen since \(since), which is less than 14 days")
                earliest = quiet
            }
            if !Self.isFresh(sightings, at: time) {
                close("the last look at every address is of \(sightings.at)", .unknown)
            }
        } else if let sightings {
            close("an old key was seen at \(sightings.at)")
            earliest = time.adding(RotationOutlook.quietSeconds)
        } else {
            close("no probe looked at every address", .unknown)
            earliest = time.adding(RotationOutlook.quietSeconds)
        }
        switch facts.failureAlarm {
        case .none: break
        case .open(let detail):
            close("an alarm about failed pins is open: \(detail)")
            earliest = nil
        case .unknown(let why):
            close("whether an alarm about failed pins is open is not known: \(why)", .unknown)
        }
        // Without the old pins the servers would have no pinned key at all.
        let lacking = facts.isNewPublished ? [] : [Self.newIsNotPublished]
        for objection in facts.objections + lacking {
            close(objection)
            earliest = nil
        }
        return RotationOutlook(
            .retired, gate, missing, since: self.since, earliest: earliest, planned: self.retireAt,
            advice: missing.isEmpty
                ? "tumbler rotate next \(self.host): removes the old pins from the source and releases it"
                : "run tumbler probe each day until the gate holds",
            wayBack: "put the old key back on the servers: it stays pinned until the rotation is retired")
    }
}
