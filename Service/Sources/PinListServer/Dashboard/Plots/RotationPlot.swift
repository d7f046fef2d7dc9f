// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// A rotation over time: what happened and what is planned, over the share of the installations that know the new key.
struct RotationPlot: Sendable {
    /// An event of a rotation.
    struct Event: Hashable, Sendable {
        /// The name: `announced`.
        let label: String
        /// The time.
        let time: Timestamp
        /// Whether it has happened; otherwise it is planned.
        let isDone: Bool
    }

    /// The distance of labels below one another, as a part of the height.
    private static let labelStep = 0.14

    /// Unique on the page; letters, digits and hyphens.
    let id: String
    /// The title, in a few words.
    let title: String
    /// The events, in the order in which they are planned.
    let events: [Event]
    /// The share that knows the new key, 0 to 1; `nil` when nothing is known of it.
    let adoption: PlotSeries?
    /// The time at which the page's figures were taken.
    let now: Timestamp
    /// The height of the drawing, in pixels.
    var pixels = 180

    /// The plot.
    var svg: Markup {
        let times = self.events.map(\.time) + [self.now] + (self.adoption.map { [$0.start, $0.end] } ?? [])
        let frame = PlotFrame(
            id: self.id, title: self.title, description: self.description, pixels: self.pixels,
            start: times.min() ?? self.now, end: times.max() ?? self.now,
            scale: NiceScale(maximum: 1, wholeNumbers: false), tickLabel: { NumberText.percent($0) })
        let curve: Markup = self.adoption.map { "\(StepPlot.gaps($0, frame))\(StepPlot.areas($0, frame))" } ?? ""
        let lines = Markup.join(self.events.map { Self.line($0.time, $0.isDone ? "event done" : "event", frame) })
        let labels = Markup.join(
            self.events.enumerated().map { index, event in
                frame.label(
                    event.isDone ? Self.name(event) : "\(Self.name(event)) (planned)", at: event.time,
                    value: 1 - Double(index) * Self.labelStep,
                    anchor: frame.x(event.time) < PlotFrame.width / 2 ? "start" : "end", kind: "mark")
            })
        return frame.svg("\(curve)\(lines)\(Self.line(self.now, "event today", frame))", labels: labels)
    }

    /// The name of an event, as short as a state is: a label beyond the plot would make the page wider.
    private static func name(_ event: Event) -> String { VisibleText.plain(event.label, limit: 24) }

    /// The same in a sentence.
    var description: String {
        let events = self.events.map { event in
            "\(Self.name(event)) \(event.isDone ? "on" : "planned for") \(TimeText.minute(event.time))"
        }
        let share = (self.adoption?.values.last ?? nil).map { NumberText.percent($0) } ?? "not measured"
        return "\(events.joined(separator: ", ")) UTC. Share of active installations that know the new key: \(share)."
    }

    private static func line(_ time: Timestamp, _ kind: String, _ frame: PlotFrame) -> Markup {
        let x = PlotFrame.number(frame.x(time))
        return "<line class=\"\(kind)\" x1=\"\(x)\" x2=\"\(x)\" y1=\"0\" y2=\"100\"/>"
    }
}
