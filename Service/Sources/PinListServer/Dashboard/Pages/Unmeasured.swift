// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Something that is not measured, said plainly: a missing figure must not look like a good one.
struct Unmeasured: Hashable, Sendable {
    /// What: `Adoption of com.example.app`.
    var what: String
    /// Why, in a sentence.
    var why: String
    /// What would change that, in a sentence.
    var next: String

    /// What templates show of it.
    var view: View {
        View([
            "what": .markup(VisibleText.line(self.what, limit: 200)),
            "why": .markup(VisibleText.line(self.why, limit: 600)),
            "next": .markup(VisibleText.line(self.next, limit: 600)),
        ])
    }
}
