// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation
import NIOHTTP1
import PinListMetadata
import PinListRepository

extension ServiceClient {
    /// Why a publication did not come to a good end.
    struct PublishingFailure: Error {
        /// How the command ends.
        let failure: CommandFailure

        /// Whether it may be published all the same: the request was sent, and the answer is missing or unclear.
        let isUnknown: Bool
    }

    /// What the service says of a publication.
    private struct Confirmation: Decodable {
        let name: String
        let changes: [String]
    }

    /// The most changes that are read: each envelope makes one.
    private static let mostChanges = Publication.mostEnvelopes

    /// Publishes: all of it, or nothing.
    ///
    /// - Returns: What is new; nothing for what was published already.
    /// - Throws: ``PublishingFailure``.
    func publish(_ publication: Publication) async throws(PublishingFailure) -> [String] {
        let answer: ServiceAnswer
        do throws(ServiceSilence) {
            answer = try await self.ask(
                Request(
                    method: .PUT, url: self.address.list(publication.name), body: publication.body,
                    mostBytes: Self.confirmationBytes))
        } catch {
            let message = "\(self.address): \(error.reason)"
            throw PublishingFailure(
                failure: CommandFailure(
                    .undecided,
                    error.mayHaveArrived
                        ? "\(message); whether it is published is not known" : "not published: \(message)",
                    hint: error.mayHaveArrived
                        ? "tumbler publish once more: what is published already stays as it is" : nil),
                isUnknown: error.mayHaveArrived)
        }
        guard answer.status == 200 else {
            // A proxy that gives up says nothing of what the service behind it did.
            let isUnknown = answer.status >= 500 && !answer.isProblem
            throw PublishingFailure(
                failure: answer.failure(isUnknown ? "perhaps not published" : "not published"), isUnknown: isUnknown)
        }
        guard let confirmation = try? JSONDecoder().decode(Confirmation.self, from: Data(answer.body)),
            confirmation.name == publication.name, confirmation.changes.count <= Self.mostChanges
        else {
            throw PublishingFailure(
                failure: CommandFailure(
                    .undecided, "\(self.address) answers 200, but not as a Tumbler service does after a publication",
                    hint: "is this the address of a Tumbler service?"),
                isUnknown: true)
        }
        return confirmation.changes.map { PrintableText.line($0, maximumLength: 128) }
    }

    /// The envelope of the list that the service serves; `nil` when nothing is published under the name.
    ///
    /// - Throws: ``CommandFailure`` when the service cannot be asked.
    func servedList(_ name: String) async throws(CommandFailure) -> [UInt8]? {
        let url = "\(self.address.list(name))/pins.json"
        let answer: ServiceAnswer
        do throws(ServiceSilence) {
            // What everybody may read needs no token.
            answer = try await ServiceClient(self.address, nil).ask(
                Request(method: .GET, url: url, body: nil, mostBytes: MetadataLimits().listBytes))
        } catch {
            throw CommandFailure(.undecided, "\(url): \(error.reason)")
        }
        if answer.status == 404 { return nil }
        guard answer.status == 200 else { throw answer.failure("\(url) was not read") }
        return answer.body
    }
}
