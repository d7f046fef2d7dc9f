// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AppAttestation
import CertificatePinning
import CommandLineInterface
import Foundation

/// `attest --batch`: a stream of questions, answered one after the other. A line that cannot be read is refused without a
/// step, and the rest go on.
struct AttestBatch {
    /// The maximum length of a line that is read, in bytes: the largest object and challenge in base64 fit many times.
    static let maximumLineLength = 1 << 20

    private static let linesAtOnce = 64

    /// One line.
    private struct Line: Decodable {
        let id: BatchQuestion.Identifier
        let what: String
        let appId: String?
        let keyId: String?
        let challenge: String?
        let clientData: String?
        let clientDataHash: String?
        let environment: String?
        let categories: [UInt32]?
        let at: String?
        let root: String?
        let publicKey: String?
        let counter: UInt32?
        let attestation: String?
        let assertion: String?
        let receipt: String?

        /// The question that the line asks.
        func question() throws(CommandError) -> AttestQuestion {
            guard let kind = AttestQuestion.Kind(rawValue: self.what) else {
                throw CommandError(.usage, "what must be one of attestation, assertion, receipt")
            }
            var question = AttestQuestion(kind)
            if let appId { try question.take(appID: appId) }
            if let environment { try question.take(environment: environment) }
            if let categories { question.take(categories: categories) }
            if let at { try question.take(time: at) }
            if let root { question.root = try AttestFile.certificate(of: root) }
            if kind != .receipt {
                let bytes = kind == .attestation ? self.challenge : self.clientData
                guard self.appId != nil, (bytes == nil) != (self.clientDataHash == nil) else {
                    throw CommandError(
                        .usage,
                        "appId, or one of \(kind == .attestation ? "challenge" : "clientData") "
                            + "and clientDataHash, is missing")
                }
                if let bytes { question.clientData = .bytes(try Self.bytes(bytes)) }
                if let clientDataHash { try question.take(clientDataHash: clientDataHash) }
            }
            switch kind {
            case .attestation:
                guard let keyId else { throw CommandError(.usage, "keyId is missing") }
                try question.take(keyID: keyId)
                question.object = try Self.bytes(self.attestation)
            case .assertion:
                guard let publicKey, let counter else {
                    throw CommandError(.usage, "publicKey or counter is missing")
                }
                question.key = AttestFile.key(in: Array(publicKey.utf8))
                guard question.key != nil else { throw CommandError(.usage, "publicKey is not a key of P-256") }
                question.counter = counter
                question.object = try Self.bytes(self.assertion)
            case .receipt: question.object = try Self.bytes(self.receipt)
            }
            return question
        }

        private static func bytes(_ text: String?) throws(CommandError) -> [UInt8] {
            guard let text, let bytes = AttestFile.base64(text.utf8) else {
                throw CommandError(.usage, "a member is missing, or is not base64")
            }
            return bytes
        }
    }

    /// Answers all lines of a file.
    ///
    /// - Parameter path: The file, or `-` for standard input.
    /// - Throws: ``CommandError`` when it cannot be read, or the answers cannot be written.
    func run(reading path: String) async throws {
        var lines = try InputLines(path, maximumLength: Self.maximumLineLength)
        while case let batch = try lines.next(atMost: Self.linesAtOnce), !batch.isEmpty {
            var answers = Data()
            for line in batch { answers += try JSONOutput.line(await self.answer(line)) + Data("\n".utf8) }
            try StandardOutput.write(answers)
        }
    }

    private func answer(_ line: InputLines.Line) async -> AttestAnswer {
        struct Named: Decodable { let id: BatchQuestion.Identifier }
        guard case .bytes(let bytes) = line else {
            return AttestAnswer(refused: nil, "a line of over \(Self.maximumLineLength) bytes").line(id: nil)
        }
        let read: Line
        do {
            read = try JSONDecoder().decode(Line.self, from: bytes)
        } catch {
            let id = try? JSONDecoder().decode(Named.self, from: bytes).id
            return AttestAnswer(refused: nil, "the line cannot be read: a member is missing or of another type").line(
                id: id)
        }
        do throws(CommandError) {
            return await (try read.question()).answer().line(id: read.id)
        } catch {
            return AttestAnswer(refused: nil, error.message).line(id: read.id)
        }
    }
}
