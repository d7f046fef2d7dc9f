// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListRepository
import PinRotation

/// The state of a rotation as lines of text.
struct RotationLines {
    let situation: RotationSituation

    private var plan: RotationPlan { self.situation.plan }
    private var outlook: RotationOutlook { self.situation.outlook }

    /// The lines; the first one says it.
    var lines: [String] {
        var lines = ["\(self.plan.host): \(self.plan.state.rawValue) since \(self.plan.since)"]
        if let alarm = self.situation.alarm { lines.append("  ALARM: \(alarm)") }
        if self.plan.entries.count > 1 || self.plan.pinSet != nil {
            let set = self.plan.pinSet.map { "pin set \($0): " } ?? ""
            lines.append("  entries: \(set)\(self.plan.entries.map(\.description).joined(separator: ", "))")
        }
        lines.append("  new: \(Self.text(of: self.plan.new))")
        lines += self.plan.old.map { "  old: \(Self.text(of: $0))" }
        for step in self.plan.forcedSteps {
            lines.append("  forced to \(step.state.rawValue) at \(step.at): \(step.forced ?? "")")
        }
        if let next = self.outlook.next {
            let gate =
                switch self.outlook.gate {
                case .holds: self.outlook.isBack ? "leads back" : "its gate holds"
                case .closed: "its gate does not hold"
                case .unknown: "whether its gate holds is not known"
                }
            lines.append("  next: \(next.rawValue); \(gate)")
        }
        let since = self.outlook.missingSince.map { " (since \($0))" } ?? ""
        lines += self.outlook.missing.map { "  missing\(since): \($0)" }
        if let earliest = self.outlook.earliest { lines.append("  at the earliest: \(earliest)") }
        if let planned = self.outlook.planned { lines.append("  planned from: \(planned)") }
        if self.plan.state == .planned || self.plan.state == .announced { lines.append(self.expectation) }
        lines += self.situation.notes.map { "  note: \($0)" }
        lines.append("  now: \(self.outlook.advice)")
        lines.append("  way back: \(self.outlook.wayBack)")
        return lines
    }

    private var expectation: String {
        guard let opening = self.situation.forecast.opening else {
            return "  the gate is not expected to open within a hundred years (\(self.situation.forecast.basis))"
        }
        return "  the gate is expected to open: \(opening) (\(self.situation.forecast.basis))"
    }

    private static func text(of key: PlannedKey) -> String {
        let kept = key.kept.map { ", kept: \($0)" } ?? ""
        let held = key.heldBy.isEmpty ? "" : ", held by: \(key.heldBy.joined(separator: ", "))"
        return "\(key.pin)\(kept)\(held)"
    }
}
