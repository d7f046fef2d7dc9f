// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CertificateSightings
import CommandLineInterface
import Foundation
import NIOHTTP1
import PinListMetadata

/// The service's evaluation of certificates that were handed in.
struct SightingOutcome {
    /// A certificate, as the service evaluated it.
    struct Evaluated: Codable, Sendable {
        /// The digest that a precertificate and its certificate share.
        var identity: String
        /// The state by the list that is served.
        var state: String
    }

    /// The whole of it as JSON.
    struct Answer: Codable, Sendable {
        /// The certificates, in their order.
        var certificates: [Evaluated]
    }

    /// The maximum number of certificates of a request, and their bytes in base64: half of what the service takes.
    private static let maximum = (certificates: 64, bytes: 524_288)

    /// The evaluations.
    private(set) var answer = Answer(certificates: [])
    /// Whether something could not be handed in.
    var isPartial = false

    private var names: [String: String] = [:]
    private var waiting: [ToldCertificate] = []
    private var waitingBytes = 0

    /// Hands a certificate in, with others.
    ///
    /// - Throws: ``CommandError`` when the service does not take them.
    mutating func add(_ told: ToldCertificate, to client: ServiceClient, of name: String) async throws(CommandError) {
        let bytes = told.json.bytes.count
        if self.waiting.count >= Self.maximum.certificates || self.waitingBytes + bytes > Self.maximum.bytes {
            try await self.finish(client, of: name)
        }
        self.waiting.append(told)
        self.waitingBytes += bytes
    }

    /// Hands certificates in.
    ///
    /// - Throws: ``CommandError`` when the service does not take them.
    mutating func hand(
        in told: [ToldCertificate], to client: ServiceClient, of name: String
    ) async throws(CommandError) {
        for each in told { try await self.add(each, to: client, of: name) }
    }

    /// Hands in what waits.
    ///
    /// - Throws: ``CommandError`` when the service does not take them.
    mutating func finish(_ client: ServiceClient, of name: String) async throws(CommandError) {
        guard !self.waiting.isEmpty else { return }
        let told = self.waiting
        (self.waiting, self.waitingBytes) = ([], 0)
        let evaluated = try await client.tell(told, of: name)
        for (told, evaluated) in zip(told, evaluated) {
            let names = (try? SightedCertificate(told.certificate).names) ?? []
            let more = names.count > 3 ? " and \(names.count - 3) more" : ""
            self.names[evaluated.identity] = names.prefix(3).joined(separator: ", ") + more
        }
        self.answer.certificates += evaluated
    }

    /// For people, a line each.
    var lines: [String] {
        self.answer.certificates.map { evaluated in
            "\(PrintableText.line(evaluated.state, maximumLength: 32)) "
                + "\(PrintableText.line(String(evaluated.identity.prefix(16)), maximumLength: 16)) "
                + PrintableText.line(self.names[evaluated.identity] ?? "", maximumLength: 256)
        }
    }
}

extension ServiceClient {
    /// The maximum number of bytes of an answer about 64 certificates: each has an identity and a state.
    private static let evaluatedBytes = 65_536

    /// Hands in certificates that were found in logs.
    ///
    /// - Returns: The evaluation of the service on each, in their order.
    /// - Throws: ``CommandError`` when the service does not take them.
    func tell(_ told: [ToldCertificate], of name: String) async throws(CommandError) -> [SightingOutcome.Evaluated] {
        let body = JSONValue.object([.init("certificates", .array(told.map(\.json)))]).bytes
        let answer = try await self.answer(
            Request(
                method: .POST, url: "\(self.address.list(name))/sightings", body: body,
                maximumBytes: Self.evaluatedBytes))
        guard answer.status == 202 else { throw answer.failure(ofChange: "none of \(told.count) was accepted") }
        guard
            let evaluated = try? JSONDecoder().decode(SightingOutcome.Answer.self, from: Data(answer.body))
                .certificates,
            evaluated.count == told.count
        else {
            throw CommandError(
                .undecided, "\(self.address) answers 202, but not as a Tumbler service does",
                hint: "is this the address of a Tumbler service?")
        }
        return evaluated
    }
}
