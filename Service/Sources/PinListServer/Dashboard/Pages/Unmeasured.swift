// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A figure that is not measured, said plainly: a missing figure must not look like a good one.
struct Unmeasured: Hashable, Sendable {
    /// The figure: `Adoption of com.example.app`.
    var what: String
    /// The reason, in a sentence.
    var why: String
    /// The next step, in a sentence.
    var next: String
    /// The first steps, where nothing is there yet.
    var steps: FirstSteps? = nil

    /// The view of the figure for templates.
    var view: View {
        View([
            "what": .markup(VisibleText.line(self.what, limit: 200)),
            "why": .markup(VisibleText.line(self.why, limit: 600)),
            "next": .markup(self.next.isEmpty ? "" : VisibleText.line(self.next, limit: 600)),
            "steps": .markup(self.steps?.markup ?? ""),
        ])
    }
}
