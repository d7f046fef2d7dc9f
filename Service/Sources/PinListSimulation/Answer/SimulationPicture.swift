// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// An answer as a picture (SVG): which lists are held, and below how many installations are refused. It needs nothing
/// from elsewhere, is readable by itself, light or dark as the viewer has it, and says in words what it shows.
public struct SimulationPicture: Sendable {
    private static let width = 960.0
    private static let left = 84.0
    private static let right = 24.0
    private static let heldTop = 84.0
    private static let heldHeight = 200.0
    private static let refusedTop = 372.0
    private static let refusedHeight = 130.0
    private static let height = 540.0
    /// The maximum number of columns; hours beyond are joined.
    private static let columns = 480
    /// The maximum number of events that are named: more labels would lie over each other.
    private static let maximumNotes = 8
    /// The number of lines of names before the next begins at the first again.
    private static let noteRows = 4
    /// The maximum number of lists that are told apart by colour; later ones begin again.
    private static let shades = 6

    private let answer: SimulationAnswer
    private let events: [Scenario.Event]
    private let title: String

    /// Prepares a picture.
    ///
    /// - Parameters:
    ///   - answer: The answer.
    ///   - scenario: The scenario.
    ///   - title: The title above it.
    public init(_ answer: SimulationAnswer, of scenario: Scenario, title: String) {
        self.answer = answer
        self.events = scenario.events.sorted { $0.at < $1.at }
        self.title = title
    }

    /// The document.
    public var svg: String {
        let summary = self.answer.lines
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.text(Self.width)) \(Self.text(Self.height))" \
            role="img" aria-labelledby="title desc">
            <title id="title">\(Self.escaped(self.title))</title>
            <desc id="desc">\(Self.escaped(summary.joined(separator: ". "))).</desc>
            <style>\(Self.style)</style>
            <rect class="ground" width="100%" height="100%"/>
            <text class="title" x="24" y="32">\(Self.escaped(self.title))</text>
            <text class="small" x="24" y="52">\(Self.escaped(summary.prefix(2).joined(separator: "; ")))</text>
            \(self.held)
            \(self.refused)
            \(self.notes)
            \(self.days)
            </svg>

            """
    }

    private static let style = """
        svg{font-family:system-ui,sans-serif}.ground{fill:#fff}text{fill:#1b1f24;font-size:13px}\
        .title{font-size:18px;font-weight:600}.small{font-size:12px;fill:#57606a}.axis{stroke:#8c959f}\
        .mark{stroke:#57606a;stroke-dasharray:3 3}.refused{fill:#b42318}.opened{fill:#d0d7de}.suspended{fill:#bf8700}\
        .l0{fill:#afb8c1}.l1{fill:#0969da}.l2{fill:#1a7f37}.l3{fill:#8250df}.l4{fill:#0598bc}.l5{fill:#bc4c00}\
        @media(prefers-color-scheme:dark){.ground{fill:#0d1117}text{fill:#e6edf3}.small{fill:#9198a1}\
        .axis{stroke:#6e7681}.mark{stroke:#9198a1}.refused{fill:#f85149}.opened{fill:#30363d}.suspended{fill:#d29922}\
        .l0{fill:#484f58}.l1{fill:#4493f8}.l2{fill:#3fb950}.l3{fill:#ab7df8}.l4{fill:#39c5cf}.l5{fill:#db6d28}}
        """

    // MARK: The parts

    /// The hours of each column.
    private var buckets: [Range<Int>] {
        let count = self.answer.series.count
        let size = max((count + Self.columns - 1) / Self.columns, 1)
        return stride(from: 0, to: count, by: size).map { $0..<min($0 + size, count) }
    }

    private func x(_ share: Double) -> Double { Self.left + share * (Self.width - Self.left - Self.right) }

    /// The curves of the lists that are held, one above the other, the newest below.
    private var held: String {
        let buckets = self.buckets
        let versions = (self.answer.series.last?.holding.count ?? 0)
        var bottom = [Double](repeating: 0, count: buckets.count)
        var parts: [String] = []
        for version in stride(from: versions, through: 1, by: -1) {
            var upper: [String] = []
            var lower: [String] = []
            var hasAny = false
            for (index, bucket) in buckets.enumerated() {
                // A held list stands at the beginning of its hour; the last hour goes on to the edge.
                let step = self.answer.series[bucket.lowerBound]
                let share = Double(step.holding["\(version)"] ?? 0) / Double(max(self.answer.clients, 1))
                hasAny = hasAny || share > 0
                let isLast = index == buckets.count - 1
                for place in isLast ? [index, index + 1] : [index] {
                    let x = Self.text(self.x(Double(place) / Double(buckets.count)))
                    lower.append("\(x),\(Self.text(Self.heldTop + Self.heldHeight * (1 - bottom[index])))")
                    upper.append("\(x),\(Self.text(Self.heldTop + Self.heldHeight * (1 - bottom[index] - share)))")
                }
                bottom[index] += share
            }
            guard hasAny else { continue }
            let points = (upper + lower.reversed()).joined(separator: " ")
            let shade = (version - 1) % Self.shades
            let name = "<title>list \(version)</title>"
            parts.append(#"<polygon class="l\#(shade)" points="\#(points)">\#(name)</polygon>"#)
        }
        return parts.joined(separator: "\n") + "\n"
            + self.frame(
                top: Self.heldTop, height: Self.heldHeight,
                "which list is held: the shipped one on top, each newer one below", "100 %")
    }

    /// The curve of installations that are refused, before those that are open.
    private var refused: String {
        let buckets = self.buckets
        let maximum = max(self.answer.series.map(\.opened).max() ?? 0, 1)
        var columns: [String] = []
        for (kind, count) in [
            ("opened", { (step: SimulationAnswer.Step) in step.opened }),
            ("suspended", { $0.suspended + $0.refused }), ("refused", { $0.refused }),
        ] {
            var path = ""
            for (index, bucket) in buckets.enumerated() {
                let value = bucket.map { count(self.answer.series[$0]) }.max() ?? 0
                guard value > 0 else { continue }
                let from = self.x(Double(index) / Double(buckets.count))
                let until = self.x(Double(index + 1) / Double(buckets.count))
                let height = Self.refusedHeight * min(Double(value) / Double(maximum), 1)
                let top = Self.refusedTop + Self.refusedHeight - height
                path += "M\(Self.text(from)) \(Self.text(top))H\(Self.text(until))"
                path += "v\(Self.text(height))H\(Self.text(from))z"
            }
            if !path.isEmpty { columns.append(#"<path class="\#(kind)" d="\#(path)"/>"#) }
        }
        let name = "open in an hour (grey), let through by a suspension (yellow), refused (red)"
        return columns.joined(separator: "\n") + "\n"
            + self.frame(
                top: Self.refusedTop, height: Self.refusedHeight, name, SimulationAnswer.grouped(maximum))
    }

    private func frame(top: Double, height: Double, _ name: String, _ maximum: String) -> String {
        let bottom = Self.text(top + height)
        let (left, right) = (Self.text(Self.left), Self.text(Self.width - Self.right))
        let edge = Self.text(Self.left - 8)
        return """
            <path class="axis" fill="none" d="M\(left) \(Self.text(top))V\(bottom)H\(right)"/>
            <text class="small" x="\(left)" y="\(Self.text(top - 8))">\(name)</text>
            <text class="small" x="\(edge)" y="\(Self.text(top + 10))" text-anchor="end">\(maximum)</text>
            <text class="small" x="\(edge)" y="\(bottom)" text-anchor="end">0</text>
            """
    }

    /// The notes of events, at the lines through both parts.
    private var notes: String {
        let length = Double(self.answer.days) * 86_400
        let told = self.events.filter { Double($0.at.seconds) <= length }.prefix(Self.maximumNotes)
        return told.enumerated().map { index, event in
            let share = Double(event.at.seconds) / length
            let x = Self.text(self.x(share))
            let y = Self.heldTop + Self.heldHeight + 18 + Double(index % Self.noteRows) * 14
            let anchor = share > 0.8 ? "end" : "start"
            let name = Self.escaped("\(event.at) \(Self.name(of: event.change))")
            let (top, bottom) = (Self.text(Self.heldTop), Self.text(Self.refusedTop + Self.refusedHeight))
            return """
                <path class="mark" d="M\(x) \(top)V\(bottom)"/>
                <text class="small" x="\(x)" y="\(Self.text(y))" text-anchor="\(anchor)">\(name)</text>
                """
        }.joined(separator: "\n")
    }

    private var days: String {
        (0...4).map { part in
            let seconds = Int64(self.answer.days) * 86_400 * Int64(part) / 4
            let anchor = part == 0 ? "start" : part == 4 ? "end" : "middle"
            let y = Self.text(Self.refusedTop + Self.refusedHeight + 20)
            let x = Self.text(self.x(Double(part) / 4))
            let place = #"x="\#(x)" y="\#(y)" text-anchor="\#(anchor)""#
            return "<text class=\"small\" \(place)>\(TimeSpan(seconds: seconds))</text>"
        }.joined(separator: "\n")
    }

    private static func name(of change: Scenario.Change) -> String {
        switch change {
        case .publish(let pins, _, _): "list: \(pins.joined(separator: " + "))"
        case .switchTo(let key): "server: \(key)"
        case .suspend(let duration): "suspended for \(duration)"
        case .rollout(let percent): "enforced by \(percent) %"
        }
    }

    // MARK: Text

    /// A number with one digit behind the point.
    private static func text(_ number: Double) -> String {
        let text = "\((number * 10).rounded() / 10)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// A text as XML has it: names are from a file.
    private static func escaped(_ text: String) -> String {
        PrintableText.line(text, maximumLength: 400).reduce(into: "") { escaped, character in
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.append(character)
            }
        }
    }
}
