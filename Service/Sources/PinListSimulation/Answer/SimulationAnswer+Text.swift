// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension SimulationAnswer {
    /// What a person needs of it, a sentence a line.
    public var lines: [String] {
        var lines = ["\(Self.grouped(self.clients)) installations over \(self.days) days, seed \(self.seed)"]
        if self.peak.refused == 0 {
            lines.append("no connection is refused")
        } else {
            lines.append(
                "worst hour: from \(self.peak.at) on \(Self.grouped(self.peak.refused)) are refused, "
                    + "\(Self.percent(self.peak.share)) of those that are open")
            lines.append("refused in all: \(Self.grouped(self.refusedClientHours)) hours of installations")
            lines.append("never recovered: \(Self.grouped(self.neverRecovered))")
        }
        let reached = self.reached.map { "\($0.at) \(Self.percent($0.share))" }.joined(separator: ", ")
        lines.append("hold the first published list or a newer one: \(reached)")
        let requests = self.publisher.requestsPerSecond
        lines.append("the host of the lists: \(requests.mean) requests a second, \(requests.p99) in busy minutes (p99)")
        lines.append("reports of failures: \(Self.grouped(self.publisher.reports))")
        return lines
    }

    /// A share in percent, with one digit behind the point.
    static func percent(_ share: Double) -> String { "\((share * 1_000).rounded() / 10) %" }

    /// A number with commas.
    static func grouped(_ number: Int) -> String {
        var text = ""
        for (index, digit) in "\(number)".reversed().enumerated() {
            if index > 0, index % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return String(text.reversed())
    }
}
