// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation
import PathValidation

/// `evaluate --batch`: a stream of questions, answered on all cores, in the order of the input. A line that cannot be
/// read answers `malformed`, and the rest go on.
struct BatchEvaluation {
    /// The maximum length of a line that is read, in bytes: 64 presented certificates of the largest size, in PEM, and
    /// roots.
    static let maximumLineLength = 8 << 20

    /// Lines that are answered together: enough that handing them out costs little, few enough to stay in memory.
    private static let linesAtOnce = 256

    /// The files that many questions share, read once.
    private struct Files {
        let roots = RootStoreCache()
        let lists = SignedListCache()
        let logs = LogListCache()
        let revocationLists = RevocationListCache()
    }

    /// The time of questions that name none.
    let defaultTime: Timestamp

    /// The policy of Certificate Transparency of questions that name none; `nil` for none.
    let defaultDemand: TransparencyDemand?

    /// The revocation lists of questions that name none; `nil` for none.
    let defaultRevocation: RevocationCheck?

    /// Answers all lines of a file.
    ///
    /// - Parameter path: The file, or `-` for standard input.
    /// - Throws: ``CommandError`` when it cannot be read, or the answers cannot be written.
    func run(reading path: String) async throws {
        try await WorkProgress.during("questions answered", writesResults: true) { progress in
            try await self.run(reading: path, progress)
        }
    }

    private func run(reading path: String, _ progress: WorkProgress?) async throws {
        var lines = try InputLines(path, maximumLength: Self.maximumLineLength)
        let files = Files()
        // The next lines are read while these are answered, and answers are written in their order: at most two batches
        // are in memory.
        var newest: Task<Void, any Error>?
        do {
            while case let batch = try lines.next(atMost: Self.linesAtOnce), !batch.isEmpty {
                let previous = newest
                newest = Task {
                    let answers = await self.answer(batch, files)
                    try await previous?.value
                    try StandardOutput.write(answers)
                    progress?.add(batch.count)
                }
                try await previous?.value
            }
        } catch {
            // Earlier questions are answered first.
            try await newest?.value
            throw error
        }
        try await newest?.value
    }

    /// Answers some lines on all cores; each core takes every n-th line.
    private func answer(_ lines: [InputLines.Line], _ files: Files) async -> Data {
        let width = min(lines.count, ProcessInfo.processInfo.activeProcessorCount)
        let parts = await withTaskGroup(of: (Int, [Data]).self) { group in
            for first in 0..<width {
                group.addTask {
                    var answers: [Data] = []
                    for index in stride(from: first, to: lines.count, by: width) {
                        answers.append(await self.answer(lines[index], files))
                    }
                    return (first, answers)
                }
            }
            return await group.reduce(into: [[Data]](repeating: [], count: width)) { $0[$1.0] = $1.1 }
        }
        var all = Data()
        for index in lines.indices {
            all += parts[index % width][index / width]
            all.append(UInt8(ascii: "\n"))
        }
        return all
    }

    private func answer(_ line: InputLines.Line, _ files: Files) async -> Data {
        let answer: BatchAnswer
        switch line {
        case .tooLong: answer = Self.malformed(nil, "", "a line of over \(Self.maximumLineLength) bytes")
        case .bytes(let bytes): answer = await self.answer(bytes, files)
        }
        // Text, numbers and booleans can always be encoded.
        return (try? answer.line) ?? Data()
    }

    private func answer(_ line: Data, _ files: Files) async -> BatchAnswer {
        let question: BatchQuestion
        do {
            question = try BatchQuestion(strict: line) ?? JSONDecoder().decode(BatchQuestion.self, from: line)
        } catch {
            struct Named: Decodable { let id: BatchQuestion.Identifier }
            let id = try? JSONDecoder().decode(Named.self, from: line).id
            return Self.malformed(id, "", Self.reason(for: error))
        }
        do throws(InputError) {
            let demand = try await question.demand(files.logs) ?? self.defaultDemand
            let evaluation = try await question.evaluation(
                defaultTime: self.defaultTime, transparency: demand,
                revocation: try await question.revocationCheck(files.revocationLists) ?? self.defaultRevocation,
                files.lists)
            let roots = try await files.roots.store(for: question.roots)
            return BatchAnswer(id: question.id, decision: try await evaluation.decide(roots: roots))
        } catch {
            return Self.malformed(question.id, question.host, error.reason)
        }
    }

    private static func malformed(_ id: BatchQuestion.Identifier?, _ host: String, _ reason: String) -> BatchAnswer {
        BatchAnswer(id: id, decision: PinningDecision(unreadableQuestionFor: host, detail: reason))
    }

    private static func reason(for error: any Error) -> String {
        switch error as? DecodingError {
        case .typeMismatch(_, let context) where context.codingPath.isEmpty: "not a JSON object"
        case .valueNotFound(_, let context) where context.codingPath.isEmpty: "not a JSON object"
        case .keyNotFound(let key, _): "the member \(key.stringValue) is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            "the member \(context.codingPath.map(\.stringValue).joined(separator: ".")) is of the wrong type"
        default: "not a line of JSON"
        }
    }
}

/// The root stores of a batch: many questions name the same few.
actor RootStoreCache {
    /// The maximum number of stores that are kept; the cache is emptied when there are more.
    private static let maximumCount = 64

    private var stores: [[String]: RootStore] = [:]

    /// The store of some PEM texts.
    ///
    /// - Throws: ``InputError`` when they hold no root that can be used.
    func store(for texts: [String]) throws(InputError) -> RootStore {
        if let store = self.stores[texts] { return store }
        var certificates: [[UInt8]] = []
        for text in texts { certificates += try BatchQuestion.certificates(in: text) }
        let store = RootStore(certificates: certificates)
        if self.stores.count >= Self.maximumCount { self.stores.removeAll() }
        self.stores[texts] = store
        return store
    }
}
