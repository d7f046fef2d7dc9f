// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinListRepository

extension HeldLists {
    /// The lists that installations may still hold: as a service counted them, else by `propagation`.
    ///
    /// - Parameters:
    ///   - project: The project.
    ///   - name: The name of the list.
    ///   - source: Its source, where it can be read.
    ///   - published: The list that clients get now, where it comes from elsewhere.
    ///   - service: Where the service is, and the token.
    ///   - time: Now.
    /// - Throws: ``CommandFailure`` when what the project remembers cannot be read. A service that cannot be asked has
    ///   measured nothing.
    static func known(
        in project: ProjectFolder, name: String, source: ListSource?, published: PinList?, service: ServiceOptions,
        at time: Timestamp
    ) async throws(CommandFailure) -> HeldLists {
        let why: String
        switch try await self.measurement(of: name, source, service) {
        case .success(let measurement):
            return try CommandFailure.wrapping { () throws(RepositoryError) in
                try HeldLists(of: project, and: published, measured: measurement)
            }
        case .failure(let reason): why = reason.words
        }
        return try CommandFailure.wrapping { () throws(RepositoryError) in
            try HeldLists(
                of: project, and: published, propagation: source?.propagation ?? ListSource.defaultPropagation,
                at: time, notMeasured: why)
        }
    }

    /// Why nothing was measured.
    private struct NotMeasured: Error {
        let words: String
    }

    private static func measurement(
        of name: String, _ source: ListSource?, _ service: ServiceOptions
    ) async throws(CommandFailure) -> Result<Measurement, NotMeasured> {
        guard let address = try service.address(or: source) else {
            return .failure(NotMeasured(words: "there is no service"))
        }
        let token = try service.token()
        guard token != nil || address.isLoopback else {
            return .failure(NotMeasured(words: "there is no token for \(address)"))
        }
        do throws(CommandFailure) {
            // On its own machine the service tells everybody.
            let adoption = try await ServiceClient(address, address.isLoopback ? nil : token).adoption(of: name)
            guard let measurement = adoption.measurement else {
                let why = adoption.why ?? "the service does not say why"
                return .failure(NotMeasured(words: PrintableText.line(why, maximumLength: 256)))
            }
            return .success(measurement)
        } catch {
            return .failure(NotMeasured(words: error.message))
        }
    }
}
