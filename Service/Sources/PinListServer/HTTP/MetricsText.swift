// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Prometheus' text format, version 0.0.4.
struct MetricsText {
    /// The type of an answer.
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private var lines: [String] = []

    /// The text.
    var text: String { self.lines.joined(separator: "\n") + "\n" }

    /// Adds a metric.
    ///
    /// - Parameters:
    ///   - name: Its name; counters end with `_total`.
    ///   - type: `counter` or `gauge`.
    ///   - help: The help text, in a sentence.
    ///   - samples: Labels and value of each.
    mutating func add(
        _ name: String, _ type: String, _ help: String, _ samples: [(labels: [(String, String)], value: Double)]
    ) {
        self.lines.append("# HELP \(name) \(help)")
        self.lines.append("# TYPE \(name) \(type)")
        for (labels, value) in samples {
            let text = labels.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
            self.lines.append("\(name)\(text.isEmpty ? "" : "{\(text)}") \(Self.number(value))")
        }
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    private static func number(_ value: Double) -> String {
        value.isFinite ? Int64(exactly: value).map { "\($0)" } ?? "\(value)" : "NaN"
    }
}
