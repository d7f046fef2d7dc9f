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
    /// The reason for which a publication failed.
    struct PublishingError: Error {
        /// The failure of the command.
        let failure: CommandError

        /// Whether it may be published all the same: the request was sent, and the answer is missing or unclear.
        let isUnknown: Bool

        /// The next step where that is so.
        static let hintOfUnknown = "tumbler publish once more: what is published already stays as it is"
    }

    /// The service's confirmation of a publication.
    private struct Confirmation: Decodable {
        let name: String
        let changes: [String]
    }

    /// The maximum number of changes that are read: each envelope makes one.
    private static let maximumChanges = Publication.maximumEnvelopes

    /// Publishes: all of it, or nothing.
    ///
    /// - Parameters:
    ///   - publication: The publication.
    ///   - logs: The log list that its list names, where it is at hand: it is uploaded first.
    /// - Returns: The new metadata; none for what was published already.
    /// - Throws: ``PublishingError``.
    func publish(_ publication: Publication, logs: [UInt8]? = nil) async throws(PublishingError) -> [String] {
        if let logs { try await self.upload(logs, of: publication.name) }
        let answer: ServiceAnswer
        do throws(ServiceResponseError) {
            answer = try await self.ask(
                Request(
                    method: .PUT, url: self.address.list(publication.name), body: publication.body,
                    maximumBytes: Self.confirmationBytes))
        } catch {
            let message = "\(self.address): \(error.reason)"
            throw PublishingError(
                failure: CommandError(
                    .undecided,
                    error.mayHaveArrived
                        ? "\(message); whether it is published is not known" : "not published: \(message)",
                    hint: error.mayHaveArrived ? PublishingError.hintOfUnknown : error.hint),
                isUnknown: error.mayHaveArrived)
        }
        guard answer.status == 200 else {
            guard answer.mayBeDone else {
                throw PublishingError(failure: answer.failure("not published"), isUnknown: false)
            }
            let failure = answer.failure("whether it is published is not known")
            throw PublishingError(
                failure: CommandError(failure.exitCode, failure.message, hint: PublishingError.hintOfUnknown),
                isUnknown: true)
        }
        guard let confirmation = try? JSONDecoder().decode(Confirmation.self, from: Data(answer.body)),
            confirmation.name == publication.name, confirmation.changes.count <= Self.maximumChanges
        else {
            throw PublishingError(
                failure: CommandError(
                    .undecided, "\(self.address) answers 200, but not as a Tumbler service does after a publication",
                    hint: "is this the address of a Tumbler service?"),
                isUnknown: true)
        }
        return confirmation.changes.map { PrintableText.line($0, maximumLength: 128) }
    }

    /// Uploads a log list; one that is there already stays as it is.
    private func upload(_ logs: [UInt8], of name: String) async throws(PublishingError) {
        guard let listed = ListedLogs(of: logs) else { return }
        let what = "not published: the log list was not uploaded"
        let answer: ServiceAnswer
        do throws(ServiceResponseError) {
            answer = try await self.ask(
                Request(
                    method: .PUT, url: self.address.list(name) + listed.path, body: logs,
                    maximumBytes: Self.confirmationBytes))
        } catch {
            throw PublishingError(
                failure: CommandError(.undecided, "\(what): \(self.address): \(error.reason)", hint: error.hint),
                isUnknown: false)
        }
        guard answer.status == 200 || answer.status == 201 else {
            throw PublishingError(failure: answer.failure(what), isUnknown: false)
        }
    }

    /// The envelope of the list that the service serves; `nil` when nothing is published under the name.
    ///
    /// - Throws: ``CommandError`` when the service cannot be asked.
    func servedList(_ name: String) async throws(CommandError) -> [UInt8]? {
        let url = "\(self.address.list(name))/pins.json"
        let answer: ServiceAnswer
        do throws(ServiceResponseError) {
            // What is public needs no token.
            answer = try await ServiceClient(self.address, nil, connections: self.connections).ask(
                Request(method: .GET, url: url, body: nil, maximumBytes: MetadataLimits().listBytes))
        } catch {
            throw CommandError(.undecided, "\(url): \(error.reason)", hint: error.hint)
        }
        if answer.status == 404 { return nil }
        guard answer.status == 200 else { throw answer.failure("\(url) was not read") }
        return answer.body
    }

    /// The log list that a served list names; `nil` where the service does not answer with it. Whether it is that file is
    /// for the caller to compare.
    func servedLogs(_ listed: ListedLogs, of name: String) async -> [UInt8]? {
        let url = "\(self.address.list(name))/logs/\(listed.digest).json"
        let answer = try? await ServiceClient(self.address, nil, connections: self.connections).ask(
            Request(method: .GET, url: url, body: nil, maximumBytes: listed.length))
        return answer?.status == 200 ? answer?.body : nil
    }
}
