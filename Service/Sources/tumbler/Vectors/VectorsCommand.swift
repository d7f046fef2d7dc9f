// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import Foundation
import PinListMetadata

/// Answers the questions of the vectors, so that clients in other languages can be compared with this one.
struct VectorsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vectors",
        abstract: "Answer questions of the vectors, one JSON object a line.",
        discussion: """
            Reads questions from standard input and writes an answer for each to standard output, in the same order. \
            `vectors/run` of the source asks all of them and compares; docs/another-language.md has the protocol. Exit \
            code 0: every line was answered.
            """
    )

    /// The maximum length of a line that is read, in bytes: a list of the largest size, in base64 and escaped, and one
    /// beyond it.
    static let maximumLineLength = 32 << 20

    func run() async throws {
        var lines = try InputLines("-", maximumLength: Self.maximumLineLength)
        while case let batch = try lines.next(atMost: 1), !batch.isEmpty {
            for line in batch {
                try StandardOutput.write(Data(await Self.answer(to: line).bytes + [UInt8(ascii: "\n")]))
            }
        }
    }

    private static func answer(to line: InputLines.Line) async -> JSONValue {
        guard case .bytes(let bytes) = line else {
            return .members(["id": .null, "error": .string("a line of over \(Self.maximumLineLength) bytes")])
        }
        return await self.answer(to: Array(bytes))
    }

    /// The answer to a line: `answer`, or `unsupported` with the name of a question that is not known, or `error` for
    /// a line that is no question.
    static func answer(to bytes: [UInt8]) async -> JSONValue {
        var id = JSONValue.null
        do {
            let question = VectorQuestion(try JSONValue(strict: bytes))
            id = question.value("id") ?? .null
            let name = try question.text("do")
            guard let answer = try await question.answer(name) else {
                return .members(["id": id, "unsupported": .string(name)])
            }
            return .members(["answer": answer, "id": id])
        } catch {
            return .members(["error": .string("\(error)"), "id": id])
        }
    }
}

extension VectorQuestion {
    /// The answer to a question; `nil` for one whose name is not known.
    fileprivate func answer(_ name: String) async throws -> JSONValue? {
        switch name {
        case "pin-of-certificate": try self.pinOfCertificate()
        case "read-pin": try self.readPin()
        case "normalise": try self.normalise()
        case "note": try self.note()
        case "follow": try self.follow()
        case "decide": try self.decide()
        case "report": try self.report()
        case "incident": try self.incident()
        case "identical": try self.identical()
        case "place": try self.place()
        case "enforces": try self.enforces()
        case "sampled": try self.sampled()
        case "nspinneddomains": try self.pinnedDomains()
        case "validate-path": try await self.validatePath()
        case "judge-transparency": try self.evaluateTransparency()
        default: nil
        }
    }
}
