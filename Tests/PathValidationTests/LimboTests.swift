// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import Foundation
import PathValidation
import TestData
import Testing

/// x509-limbo: the cases on which path validators differ, with what the standards say of each.
@Suite(
    "x509-limbo",
    .enabled(if: SharedData.holds(SharedData.limbo), "../shared/data/x509-limbo is not beside the checkout"))
struct LimboTests {
    /// The time of the cases that name none: within the validity of all certificates of the collection.
    private static let now = Timestamp(secondsSince1970: 1_795_219_200)

    private struct Answer {
        let testcase: LimboCase
        let outcome: PathOutcome

        var isAccepted: Bool { self.outcome.path != nil }
        var isFalseAccept: Bool { self.isAccepted && self.testcase.expectedResult == .failure }
        var isFalseRefusal: Bool { !self.isAccepted && self.testcase.expectedResult == .success }
    }

    /// The ids in the first table of docs/limbo-exceptions.md: the first cell of each row.
    private func exceptions() throws -> Set<String> {
        let page = SharedData.package.appendingPathComponent("docs/limbo-exceptions.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let cells = text.prefix(upTo: try #require(text.range(of: "\n## ")).lowerBound).split(separator: "\n").filter {
            $0.hasPrefix("| `")
        }.map { $0.split(separator: "`")[1] }
        return Set(cells.map { String($0) })
    }

    private func answers() async throws -> [Answer] {
        var answers: [Answer] = []
        for name in ["limbo-core.json", "limbo-bettertls.json"] {
            for testcase in try LimboCase.cases(in: SharedData.limbo.appendingPathComponent(name)) {
                answers.append(Answer(testcase: testcase, outcome: try await testcase.outcome(now: Self.now)))
            }
        }
        return answers
    }

    @Test("no false accept outside docs/limbo-exceptions.md, and at least 98 % of what must be accepted is")
    func noFalseAcceptOutsideDocsLimboExceptionsMdAndAtLeast98OfWhatMustBeAcceptedIs() async throws {
        let answers = try await self.answers()
        #expect(answers.count == 762)

        let falseAccepts = Set(answers.filter(\.isFalseAccept).map(\.testcase.id))
        let exceptions = try self.exceptions()
        #expect(falseAccepts.subtracting(exceptions) == [])
        #expect(exceptions.subtracting(falseAccepts) == [], "listed, and refused by now: strike it from the page")

        let server = answers.filter { $0.testcase.validationKind == "SERVER" && $0.testcase.expectedResult == .success }
        let refused = server.filter(\.isFalseRefusal)
        #expect(server.count == 125)
        #expect(Double(server.count - refused.count) >= 0.98 * Double(server.count), "\(refused.map(\.testcase.id))")

        try self.report(answers)
    }

    /// For `make proof`: the results in limbo's format and the table, where the environment names a folder.
    private func report(_ answers: [Answer]) throws {
        guard let folder = ProcessInfo.processInfo.environment["TUMBLER_PROOF"] else { return }
        var results = LimboResults()
        var rows: [String: [Int]] = [:]
        for answer in answers {
            let refusal = answer.outcome.refusal.map { "\($0)" }
            results.results.append(
                .init(id: answer.testcase.id, actualResult: answer.isAccepted ? .success : .failure, context: refusal))
            let family = answer.testcase.id.split(separator: "::").prefix(2).joined(separator: "::")
            let column = (answer.testcase.expectedResult == .success ? 0 : 2) + (answer.isAccepted ? 0 : 1)
            rows[family, default: [0, 0, 0, 0]][column] += 1
        }
        try results.write(to: URL(fileURLWithPath: folder).appendingPathComponent("limbo-results.json"))
        var lines = [
            "# x509-limbo", "",
            "\(answers.count) cases: `limbo-core.json` and `limbo-bettertls.json`. False accepts are listed, with reasons, in",
            "[limbo-exceptions.md](../limbo-exceptions.md).", "",
            "| family | accepted, rightly | refused, wrongly | accepted, listed | refused, rightly |",
            "|---|---|---|---|---|",
        ]
        for (family, counts) in rows.sorted(by: { $0.key < $1.key }) {
            lines.append("| \(family) | \(counts[0]) | \(counts[1]) | \(counts[2]) | \(counts[3]) |")
        }
        let sums = (0..<4).map { column in rows.values.reduce(0) { $0 + $1[column] } }
        lines.append("| **all** | \(sums[0]) | \(sums[1]) | \(sums[2]) | \(sums[3]) |")
        let refused = answers.filter(\.isFalseRefusal).map {
            "`\($0.testcase.id)` (\($0.testcase.validationKind.lowercased()))"
        }
        lines += [
            "",
            "Refused, wrongly: \(refused.joined(separator: ", ")). A client's certificate is refused as a server's.",
            "",
        ]
        try lines.joined(separator: "\n").write(
            to: URL(fileURLWithPath: folder).appendingPathComponent("limbo.md"), atomically: true, encoding: .utf8)
    }
}
#endif
