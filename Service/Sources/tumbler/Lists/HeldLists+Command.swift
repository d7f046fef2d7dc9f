// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation
import PinListMetadata
import PinListRepository
import PinRotation

extension HeldLists {
    /// The lists that installations may still hold: as a service counted them, else by `propagation`.
    ///
    /// - Parameters:
    ///   - project: The project.
    ///   - name: The name of the list.
    ///   - source: Its source, where it can be read.
    ///   - published: The list that clients get now, where it comes from elsewhere.
    ///   - service: The address of the service, and the token.
    ///   - time: Now.
    /// - Throws: ``CommandError`` when what the project remembers cannot be read. A service that cannot be asked has
    ///   measured nothing.
    static func known(
        in project: ProjectFolder, name: String, source: ListSource?, published: PinList?, service: ServiceOptions,
        at time: Timestamp
    ) async throws(CommandError) -> HeldLists {
        let held = try await self.asked(in: project, name: name, source, published, service, at: time)
        let versions = held.versionsWithoutLogs
        if !versions.isEmpty {
            StandardError.warning(
                "the log list of \(ListVersions.text(of: versions)), which installations may still hold, is not in logs/: "
                    + "what that refuses for Certificate Transparency is not known")
        }
        return held
    }

    private static func asked(
        in project: ProjectFolder, name: String, _ source: ListSource?, _ published: PinList?,
        _ service: ServiceOptions, at time: Timestamp
    ) async throws(CommandError) -> HeldLists {
        let why: String
        switch try await ServiceAdoption.asked(of: name, source, service) {
        case .success(let adoption):
            if let measurement = adoption.measurement {
                return try CommandError.wrapping { () throws(RepositoryError) in
                    try HeldLists(of: project, and: published, measured: measurement)
                }
            }
            why = adoption.whyNotMeasured
        case .failure(let reason): why = reason.words
        }
        return try CommandError.wrapping { () throws(RepositoryError) in
            try HeldLists(
                of: project, and: published, propagation: source?.propagation ?? ListSource.defaultPropagation,
                at: time, notMeasured: why)
        }
    }
}

extension ServiceAdoption {
    /// The reason for which a service was not asked, or said nothing.
    struct NotAskedError: Error {
        /// In words, without a full stop.
        let words: String
    }

    /// The answer of the service, where there is one and a token for it.
    ///
    /// - Throws: ``CommandError`` when the address or the file of the token is no good.
    static func asked(
        of name: String, _ source: ListSource?, _ service: ServiceOptions
    ) async throws(CommandError) -> Result<ServiceAdoption, NotAskedError> {
        guard let address = try service.address(or: source) else {
            return .failure(NotAskedError(words: "there is no service"))
        }
        let token = try service.token(for: address)
        guard token != nil || address.isLoopback else {
            return .failure(NotAskedError(words: "there is no token for \(address)"))
        }
        do throws(CommandError) {
            return .success(try await service.client(address, token).adoption(of: name))
        } catch {
            return .failure(NotAskedError(words: error.message))
        }
    }
}
