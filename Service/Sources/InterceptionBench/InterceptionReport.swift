// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
import Foundation

/// The results of a run, for people and for programs.
public struct InterceptionReport: Sendable {
    /// Whether the client is right, as far as the run shows it.
    public enum Verdict: Hashable, Sendable {
        /// It sent nothing where it should not have.
        case holds
        /// It sent something to an interceptor.
        case doesNotHold
        /// No result, and why.
        case undecided(String)
    }

    /// The host that was asked for.
    public let host: HostName
    /// The time at which the run began.
    public let time: Timestamp
    /// The result of each case, in the order of the run.
    public let results: [InterceptionResult]
    /// Whether a client was run for each case: then one that it did not come to is not shown.
    public let isClientRun: Bool

    /// States a report.
    public init(of host: HostName, at time: Timestamp, isClientRun: Bool, _ results: [InterceptionResult]) {
        self.host = host
        self.time = time
        self.isClientRun = isClientRun
        self.results = results
    }

    /// The verdict on the client. A client that never came was not tested, and one that does not work refuses
    /// everything.
    public var verdict: Verdict {
        if self.results.contains(where: \.isFailure) { return .doesNotHold }
        if self.results.contains(where: { $0.played.isControl && $0.outcome == .refused }) {
            return .undecided("in the control no request came either: what refuses everything proves nothing")
        }
        if self.results.allSatisfy({ $0.outcome == .noClientCame }) {
            return .undecided("no client came to any case")
        }
        let missing = self.results.filter { $0.outcome == .noClientCame }.map(\.played.name)
        if self.isClientRun, !missing.isEmpty {
            return .undecided("the client did not come to \(missing.joined(separator: ", "))")
        }
        return .holds
    }

    /// The result lines, one a case: its name, then `refused before a byte`, `ACCEPTED: 412 request bytes` or
    /// `no client came`.
    public var lines: [String] { self.results.map { "\($0.played.name): \($0.line)" } }
}

extension InterceptionReport: Encodable {
    private enum CodingKeys: CodingKey { case host, at, verdict, detail, cases }

    /// Encodes it as formats.md, section 8, has it.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.host.description, forKey: .host)
        try container.encode(self.time.description, forKey: .at)
        switch self.verdict {
        case .holds: try container.encode("holds", forKey: .verdict)
        case .doesNotHold: try container.encode("does-not-hold", forKey: .verdict)
        case .undecided(let detail):
            try container.encode("undecided", forKey: .verdict)
            try container.encode(detail, forKey: .detail)
        }
        try container.encode(self.results.map(PlayedCase.init), forKey: .cases)
    }

    /// One case as JSON.
    private struct PlayedCase: Encodable {
        let result: InterceptionResult

        private enum CodingKeys: CodingKey {
            case name, shows, rightClient, mayAccept, outcome, connections, handshakes, requestBytes, passed
        }

        init(_ result: InterceptionResult) { self.result = result }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            let result = self.result
            try container.encode(result.played.name, forKey: .name)
            try container.encode(result.played.shows, forKey: .shows)
            try container.encode(result.played.rightClient, forKey: .rightClient)
            try container.encode(result.mayAccept, forKey: .mayAccept)
            try container.encode(result.line, forKey: .outcome)
            try container.encode(result.connections, forKey: .connections)
            try container.encode(result.handshakes, forKey: .handshakes)
            try container.encode(result.requestBytes, forKey: .requestBytes)
            try container.encode(result.outcome == .noClientCame ? nil : result.passed, forKey: .passed)
        }
    }
}

extension InterceptionResult {
    /// Whether the client did what a right one does; of a control, whether it worked.
    var passed: Bool { self.played.isControl ? self.outcome == .accepted : !self.isFailure }
}

extension InterceptionReport {
    /// A table in Markdown.
    public var markdown: String {
        var lines = [
            "# Interception of \(self.host)", "",
            "\(self.time), by `tumbler intercept`: "
                + self.verdictText + ".", "", "| case | what it shows | outcome | as a right client |",
            "|---|---|---|---|",
        ]
        for result in self.results {
            let answer = result.outcome == .noClientCame ? "not tested" : result.passed ? "yes" : "**no**"
            lines.append("| `\(result.played.name)` | \(result.played.shows) | \(result.line) | \(answer) |")
        }
        return (lines + [""]).joined(separator: "\n")
    }

    private var verdictText: String {
        switch self.verdict {
        case .holds: "no interceptor got a byte of a request"
        case .doesNotHold: "an interceptor got a request"
        case .undecided(let detail): "undecided, because \(detail)"
        }
    }

    /// The form that CI systems read as results of tests: a test a case. What no client came to is skipped.
    public var junit: String {
        let failed = self.results.count { $0.outcome != .noClientCame && !$0.passed }
        let skipped = self.results.count { $0.outcome == .noClientCame }
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#,
            #"<testsuite name="tumbler intercept" tests="\#(self.results.count)" failures="\#(failed)" "#
                + #"skipped="\#(skipped)" errors="0" timestamp="\#(self.time.description.dropLast())">"#,
        ]
        for result in self.results {
            let open = #"  <testcase classname="\#(Self.escaped("\(self.host)"))" name="\#(result.played.name)""#
            if result.outcome == .noClientCame {
                lines += [open + ">", #"    <skipped message="\#(result.line)"/>"#, "  </testcase>"]
            } else if result.passed {
                lines.append(open + "/>")
            } else {
                let text = "\(result.played.shows). A right client: \(result.played.rightClient)"
                lines += [
                    open + ">", #"    <failure message="\#(result.line)">\#(Self.escaped(text))</failure>"#,
                    "  </testcase>",
                ]
            }
        }
        return (lines + ["</testsuite>", ""]).joined(separator: "\n")
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
