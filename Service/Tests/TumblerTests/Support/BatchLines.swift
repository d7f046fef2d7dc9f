// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A question of `evaluate --batch`.
struct BatchQuestionLine: Encodable {
    var id: PrintedIdentifier
    var host: String
    var chain: [String]
    var roots: [String]
    var at: String?
    var nameCheck: Bool?
    var pins: [String]?

    init(id: PrintedIdentifier, host: String, chain: [String], roots: [String]) {
        self.id = id
        self.host = host
        self.chain = chain
        self.roots = roots
    }

    /// Asks whether the app would accept what the server of this chain presents.
    init(id: PrintedIdentifier, asking chain: TestChain) throws {
        self.init(id: id, host: TestChain.host, chain: try chain.presentedTexts(), roots: try chain.rootTexts())
    }

    /// The line, without its end.
    func line() throws -> String { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
}

/// The members of an answer of `evaluate --batch` that tests look at.
struct BatchAnswerLine: Decodable, Equatable {
    let id: PrintedIdentifier?
    let host: String
    let reason: String
}

extension CommandRun {
    /// The output, each line a value.
    func decodedLines<Value: Decodable>(as type: Value.Type) throws -> [Value] {
        try self.lines.map { try JSONDecoder().decode(type, from: Data($0.utf8)) }
    }
}
