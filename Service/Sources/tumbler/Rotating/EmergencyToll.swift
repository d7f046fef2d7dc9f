// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinListRepository
import PinRotation

/// Whom a key locks out that is served at once, and for how long: in closed form, from measured adoption, `opened:` of
/// the source, or the usual installation base.
struct EmergencyToll {
    private let host: HostName
    private let refusing: GateAnswer?
    private let curve: AdoptionForecast
    private let basis: String

    /// After how long the rest is told, in seconds.
    private static let moments: [Int64] = [3_600, 86_400, 7 * 86_400, 14 * 86_400, 30 * 86_400]

    init(_ plan: RotationPlan, _ knowledge: RotationKnowledge, at time: Timestamp) {
        self.host = plan.host
        self.refusing = knowledge.lists.flatMap { lists in
            let rules = try? GateRules(
                newest: lists.newest, holders: lists.holders, maxRefusing: plan.maxRefusing.percent, at: time)
            return rules?.answer(for: plan.host, .key(plan.new.pin), lifetimes: [])
        }
        let forecast = knowledge.forecast(limit: plan.maxRefusing)
        if let curve = forecast.curve {
            (self.curve, self.basis) = (curve, forecast.basis)
        } else {
            self.curve = .usual
            self.basis = "an app that is opened every fourth day on average: write opened: into tumbler.yaml"
        }
    }

    /// Whom it locks out.
    var lines: [String] {
        var lines: [String] = []
        if let refusing, refusing.verdict == .safe {
            lines.append("\(self.host): the gate says safe: the key may be served without an emergency")
        } else if let share = refusing?.refusing.share {
            lines.append("served now, \(Share.percent(share)) of the requests come from installations that refuse it")
        } else {
            lines.append(
                "served now, every installation refuses it that does not know the new pin; nothing is measured")
        }
        let rest = Self.moments.map {
            "\(Share.percent(self.curve.notReached(after: $0))) after \(SourceDuration.text($0))"
        }
        lines.append("not opened since, and so without the new list: \(rest.joined(separator: ", ")) (\(self.basis))")
        return lines
    }

    /// How long a suspension is proposed, in seconds: until half of the installations came, from 12 hours to 7 days.
    var suspension: Int64 {
        let half = self.curve.secondsUntil(reaching: 0.5) ?? MetadataLimits.suspensionSeconds
        let hours = half / 3_600 + 1
        return min(max(hours * 3_600, 12 * 3_600), MetadataLimits.suspensionSeconds)
    }

    /// What comes in which order.
    var order: [String] {
        [
            "1. look that clients get the list: tumbler probe, and the page of the service",
            "2. deploy the new key at every address of \(self.host)",
            "3. tumbler rotate next \(self.host): looks whether every address serves it",
            "4. tumbler resume \(self.host) and tumbler release, as soon as failures go down",
            "5. a stolen key: write its pin into denied: of tumbler.yaml, and tumbler release",
            "6. plan a new backup: the spare key is in use now",
        ]
    }
}
