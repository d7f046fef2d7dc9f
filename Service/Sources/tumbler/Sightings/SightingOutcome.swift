// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CertificateSightings
import CommandLineInterface
import Foundation
import NIOHTTP1
import PinListMetadata

/// What the service made of certificates that were handed in.
struct SightingOutcome {
    /// A certificate, as the service judged it.
    struct Judged: Codable, Sendable {
        /// The digest that a precertificate and its certificate share.
        var identity: String
        /// What it means by the list that is served.
        var state: String
    }

    /// The whole of it as JSON.
    struct Answer: Codable, Sendable {
        /// The certificates, in their order.
        var certificates: [Judged]
    }

    /// The most certificates of a request, and their bytes in base64: half of what the service takes.
    private static let most = (certificates: 64, bytes: 524_288)

    /// What was judged.
    private(set) var answer = Answer(certificates: [])
    /// Whether something could not be handed in.
    var isPartial = false

    private var names: [String: String] = [:]
    private var waiting: [ToldCertificate] = []
    private var waitingBytes = 0

    /// Hands a certificate in, with others.
    ///
    /// - Throws: ``CommandFailure`` when the service does not take them.
    mutating func add(_ told: ToldCertificate, to client: ServiceClient, of name: String) async throws(CommandFailure) {
        let bytes = told.json.bytes.count
        if self.waiting.count >= Self.most.certificates || self.waitingBytes + bytes > Self.most.bytes {
            try await self.finish(client, of: name)
        }
        self.waiting.append(told)
        self.waitingBytes += bytes
    }

    /// Hands certificates in.
    ///
    /// - Throws: ``CommandFailure`` when the service does not take them.
    mutating func hand(
        in told: [ToldCertificate], to client: ServiceClient, of name: String
    ) async throws(CommandFailure) {
        for each in told { try await self.add(each, to: client, of: name) }
    }

    /// Hands in what waits.
    ///
    /// - Throws: ``CommandFailure`` when the service does not take them.
    mutating func finish(_ client: ServiceClient, of name: String) async throws(CommandFailure) {
        guard !self.waiting.isEmpty else { return }
        let told = self.waiting
        (self.waiting, self.waitingBytes) = ([], 0)
        let judged = try await client.tell(told, of: name)
        for (told, judged) in zip(told, judged) {
            let names = (try? SightedCertificate(told.certificate).names) ?? []
            let more = names.count > 3 ? " and \(names.count - 3) more" : ""
            self.names[judged.identity] = names.prefix(3).joined(separator: ", ") + more
        }
        self.answer.certificates += judged
    }

    /// For people, a line each.
    var lines: [String] {
        self.answer.certificates.map { judged in
            "\(PrintableText.line(judged.state, maximumLength: 32)) \(judged.identity.prefix(16)) "
                + PrintableText.line(self.names[judged.identity] ?? "", maximumLength: 256)
        }
    }
}

extension ServiceClient {
    /// The most bytes of an answer about 64 certificates.
    private static let judgedBytes = 65_536

    /// Hands in certificates that were found in logs.
    ///
    /// - Returns: What the service makes of each, in their order.
    /// - Throws: ``CommandFailure`` when the service does not take them.
    func tell(_ told: [ToldCertificate], of name: String) async throws(CommandFailure) -> [SightingOutcome.Judged] {
        let body = JSONValue.object([.init("certificates", .array(told.map(\.json)))]).bytes
        let answer = try await self.answer(
            Request(
                method: .POST, url: "\(self.address.list(name))/sightings", body: body, mostBytes: Self.judgedBytes))
        guard answer.status == 202 else { throw answer.failure("nothing of \(told.count) was taken") }
        guard let judged = try? JSONDecoder().decode(SightingOutcome.Answer.self, from: Data(answer.body)).certificates,
            judged.count == told.count
        else {
            throw CommandFailure(
                .undecided, "\(self.address) answers 202, but not as a Tumbler service does",
                hint: "is this the address of a Tumbler service?")
        }
        return judged
    }
}
