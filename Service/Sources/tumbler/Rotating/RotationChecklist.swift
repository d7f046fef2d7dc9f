// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListRepository
import PinRotation

/// A rotation as a page with check boxes: before, during and after, who and when.
struct RotationChecklist {
    let plan: RotationPlan

    /// Markdown.
    var text: String {
        let host = self.plan.host
        let isOut = self.plan.entered(.announced) != nil
        var lines = [
            "# Rotation of the key of \(host)", "",
            "Stands at **\(self.plan.state.rawValue)** since \(self.plan.since). `tumbler rotate status \(host)` says more.",
            "", "Entries: \(self.plan.entries.map(\.description).joined(separator: ", ")).", "", "## Before", "",
            self.box(true, "planned", self.plan.steps.first?.at),
            self.box(false, "the new key is kept where it should be: \(Self.text(self.plan.new))"),
        ]
        lines += self.plan.old.map { self.box(false, "the old key can be found: \(Self.text($0))") }
        lines += [
            self.box(
                isOut, "new pin announced: `tumbler rotate next \(host)`", self.plan.entered(.announced),
                planned: self.plan.announceAt),
            self.box(self.plan.entered(.ready) != nil, "the gate says safe", self.plan.entered(.ready)),
            "", "## During", "",
            self.box(false, "the people who deploy and who watch failures are named"),
            self.box(false, "new key deployed to one address", planned: self.plan.switchAt),
            self.box(false, "`tumbler probe` is well, and no failures are reported"),
            self.box(
                self.plan.entered(.switched) != nil, "new key deployed to every address", self.plan.entered(.switched),
                planned: self.plan.switchAt),
            "", "## After", "",
            self.box(false, "`tumbler probe` each day for 14 days: no old key is seen"),
            self.box(
                self.plan.entered(.retired) != nil, "old pins retired: `tumbler rotate next \(host)`",
                self.plan.entered(.retired), planned: self.plan.retireAt),
            self.box(false, "the old key is destroyed"),
            "",
        ]
        return lines.joined(separator: "\n")
    }

    private func box(
        _ isDone: Bool, _ what: String, _ time: Timestamp? = nil, planned: Timestamp? = nil
    ) -> String {
        let at = isDone ? time.map { ", \($0)" } ?? "" : planned.map { ", from \($0)" } ?? ""
        return "- [\(isDone ? "x" : " ")] \(what)\(at)\(isDone ? "" : " (who: ____, when: ____)")"
    }

    /// The text of a person in a page: what Markdown would read as its own is escaped.
    private static func text(_ key: PlannedKey) -> String {
        let words = [
            key.kept ?? "place unknown",
            "held by \(key.heldBy.isEmpty ? "unknown holders" : key.heldBy.joined(separator: ", "))",
        ]
        let escaped = words.joined(separator: ", ").map { "\\`*_{}[]<>#|".contains($0) ? "\\\($0)" : "\($0)" }.joined()
        return "`\(key.pin)`, \(escaped)"
    }
}
