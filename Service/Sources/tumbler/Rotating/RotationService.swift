// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation
import NIOHTTP1
import PinListRepository
import PinRotation

/// The plans of rotations as the service keeps them: people on other machines see them, and of two that take a step at
/// once one gets an error.
struct RotationService {
    /// A plan that the service has.
    struct Stored {
        let plan: RotationPlan
        let tag: String
    }

    private let client: ServiceClient
    private let name: String

    /// The service of a project; `nil` when there is none, or no token.
    ///
    /// - Throws: ``CommandError`` for an address or a token that cannot be read.
    init?(_ options: ServiceOptions, _ source: ListSource) throws(CommandError) {
        guard let address = try options.address(or: source), let token = try options.token(for: address) else {
            return nil
        }
        self.client = options.client(address, token)
        self.name = source.name
    }

    private func address(of host: HostName) -> String {
        let path = host.description.addingPercentEncoding(
            withAllowedCharacters: .alphanumerics.union(.init(charactersIn: ".-_")))
        return "\(self.client.address.list(self.name))/rotations/\(path ?? "")"
    }

    /// The plan of a host; `nil` when the service has none.
    ///
    /// - Throws: ``CommandError``; with the exit code 1 when it has one that this tool must not replace.
    func stored(_ host: HostName) async throws(CommandError) -> Stored? {
        let answer = try await self.ask(
            ServiceClient.Request(
                method: .GET, url: self.address(of: host), body: nil, maximumBytes: RotationPlan.maximumLength))
        if answer.status == 404 { return nil }
        guard answer.status == 200, let tag = answer.entityTag else {
            let failure = answer.failure("the plan of \(host) was not read")
            throw CommandError(.undecided, failure.message, hint: failure.hint)
        }
        do throws(RotationPlanError) {
            return Stored(plan: try RotationPlan(json: answer.body), tag: tag)
        } catch {
            throw CommandError(
                .doesNotHold, "the plan of \(host) on \(self.client.address) cannot be read: \(error)",
                hint: error.code == .newerSchema ? "update tumbler: a newer one wrote it" : nil)
        }
    }

    /// Stores a plan in place of the one that was read.
    ///
    /// - Throws: ``CommandError``; with the exit code 1 when another one was faster.
    func store(_ plan: RotationPlan, replacing tag: String?) async throws(CommandError) {
        let answer = try await self.ask(
            ServiceClient.Request(
                method: .PUT, url: self.address(of: plan.host), body: plan.bytes,
                maximumBytes: ServiceClient.confirmationBytes,
                condition: tag.map { ("If-Match", $0) } ?? ("If-None-Match", "*")))
        if answer.status == 412 {
            throw CommandError(
                .doesNotHold,
                "the plan of \(plan.host) on \(self.client.address) is not the one "
                    + "that was read: it was changed meanwhile",
                hint: "bring this checkout up to date, then tumbler rotate status \(plan.host)")
        }
        guard [200, 201, 204].contains(answer.status) else {
            let failure = answer.failure(ofChange: "the plan was not stored")
            throw CommandError(.undecided, failure.message, hint: failure.hint)
        }
    }

    private func ask(_ request: ServiceClient.Request) async throws(CommandError) -> ServiceAnswer {
        do throws(ServiceResponseError) { return try await self.client.ask(request) } catch {
            throw CommandError(.undecided, "\(self.client.address): \(error.reason)")
        }
    }
}
