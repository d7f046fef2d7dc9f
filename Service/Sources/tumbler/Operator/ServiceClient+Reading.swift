// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CommandLineInterface
import Foundation
import NIOHTTP1

extension ServiceClient {
    /// The maximum number of bytes of a status: that of some thousand hosts.
    private static let statusBytes = 8 << 20

    /// Sends what a probe found.
    ///
    /// - Parameters:
    ///   - report: The report as JSON.
    ///   - name: The name of the list.
    /// - Throws: ``CommandError`` when the service does not take it.
    func push(_ report: [UInt8], of name: String) async throws(CommandError) {
        let answer = try await self.answer(
            Request(
                method: .POST, url: "\(self.address.list(name))/probe", body: report,
                maximumBytes: Self.confirmationBytes))
        guard answer.status == 202 else { throw answer.failure(ofChange: "the result was not taken") }
    }

    /// Puts an answer of the gate into the audit log.
    ///
    /// - Parameters:
    ///   - record: The answer as JSON, with the certificate that it is about.
    ///   - name: The name of the list.
    /// - Throws: ``CommandError`` when the service does not take it.
    func record(_ record: [UInt8], of name: String) async throws(CommandError) {
        let answer = try await self.answer(
            Request(
                method: .POST, url: "\(self.address.list(name))/gates", body: record,
                maximumBytes: Self.confirmationBytes))
        guard answer.status == 204 else { throw answer.failure(ofChange: "the answer was not taken") }
    }

    /// The status of the service, as JSON and as values.
    ///
    /// - Throws: ``CommandError`` when the service cannot be asked, or answers something else.
    func status() async throws(CommandError) -> (json: [UInt8], status: ServiceStatus) {
        let answer = try await self.answer(
            Request(
                method: .GET, url: "\(self.address)/v1/status", body: nil, maximumBytes: Self.statusBytes))
        guard answer.status == 200 else {
            let failure = answer.failure("no status")
            // A refused read is no decision.
            throw CommandError(.undecided, failure.message, hint: failure.hint)
        }
        guard let status = try? JSONDecoder().decode(ServiceStatus.self, from: Data(answer.body)) else {
            throw CommandError(
                .undecided, "\(self.address) answers 200, but not with a status",
                hint: "is this the address of a Tumbler service?")
        }
        return (answer.body, status)
    }

    /// Sends a request once, and names the service in the error when there is no answer.
    ///
    /// - Throws: ``CommandError``.
    func answer(_ request: Request) async throws(CommandError) -> ServiceAnswer {
        do throws(ServiceResponseError) { return try await self.ask(request) } catch {
            throw CommandError(.undecided, "\(self.address): \(error.reason)", hint: error.hint)
        }
    }
}
