// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension PlotSeries {
    /// How many windows a table has.
    private static let mostRows = 48

    /// The same as a table: the newest windows, each with its time and count.
    var rows: [View] {
        self.values.indices.reversed().prefix(Self.mostRows).map { index in
            View([
                "time": "\(TimeText.minute(self.time(of: index)))",
                "count": .markup(self.values[index].map { "\(NumberText.short($0))" } ?? "not measured"),
            ])
        }
    }
}
