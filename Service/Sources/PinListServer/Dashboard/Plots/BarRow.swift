// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A bar in a row of a table: so much of so much.
struct BarRow: Sendable {
    /// What colour it has; the words beside it say the same.
    enum Tone: String, Sendable {
        /// Nothing to do.
        case calm
        /// Soon something to do.
        case soon
        /// Something to do now.
        case now
    }

    /// How long.
    let value: Double
    /// The end of the axis.
    let top: Double
    /// Its colour.
    let tone: Tone

    /// The bar. It is decoration: the row says the number.
    var svg: Markup {
        let share = self.value.isFinite && self.top.isFinite && self.top > 0 ? self.value / self.top : 0
        let width = NumberText.decimal(min(max(share, 0), 1) * 100, places: 1)
        return """
            <svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" focusable="false">\
            <rect class="track" width="100" height="6"/><rect class="fill \(self.tone.rawValue)" width="\(width)" \
            height="6"/></svg>
            """
    }
}
