// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation
import PinListMetadata
import PinListRepository
import PinRotation

/// The lists that the gate evaluates by: the newest, and those that installations hold.
struct GateLists: Sendable {
    /// The name of the list.
    let name: String

    /// The newest list of the project, and the one that the service serves.
    let newest: [PinList]

    /// The lists that installations hold.
    let holders: GateHolders

    /// The service; `nil` where there is none.
    let service: ServiceAddress?

    /// Collects them.
    ///
    /// - Parameters:
    ///   - option: The project folder. Where there is none, `name` and the service say all that is known.
    ///   - name: The name of the list; `nil` for that of the project.
    ///   - service: The address of the service, and the token.
    ///   - time: Now.
    /// - Throws: ``CommandError``, never with the exit code of a certificate that is refused. A service that cannot be
    ///   asked has measured nothing.
    static func load(
        _ option: ProjectOption, name: String?, _ service: ServiceOptions, at time: Timestamp
    ) async throws(CommandError) -> GateLists {
        do throws(CommandError) {
            return try await self.lists(option, name, service, time)
        } catch {
            guard error.exitCode == .doesNotHold else { throw error }
            throw CommandError(.undecided, error.message, hint: error.hint)
        }
    }

    private static func lists(
        _ option: ProjectOption, _ name: String?, _ service: ServiceOptions, _ time: Timestamp
    ) async throws(CommandError) -> GateLists {
        // Only who names a list and a service may be without a project.
        let isAlone = name != nil && service.server != nil && option.directory == nil && (try? option.find()) == nil
        let input: SourceInput? = isAlone ? nil : try SourceInput(nil, option)
        let own = try CommandError.wrapping { () throws(RepositoryError) in try input?.project.publishedList() }
        guard let known = own?.name ?? name else {
            throw CommandError(
                .undecided, "there is no \(ProjectFolder.listName) in the project folder",
                hint: "tumbler release signs tumbler.yaml")
        }
        if let name, name != known {
            throw CommandError(.usage, "--name \(name): the project's list is \(known)")
        }
        let roots = try CommandError.wrapping { () throws(RepositoryError) in try input?.project.roots() ?? [] }
        let address = try service.address(or: input?.source)
        let (served, why) = await self.served(known, address, roots, service)
        let newest = [own, served].compactMap { $0 }
        if let why, newest.isEmpty {
            throw CommandError(.undecided, "there is no list of \(known) to evaluate by: \(why)")
        }
        let adoption = try await ServiceAdoption.asked(of: known, input?.source, service)
        let byTime = try CommandError.wrapping { () throws(RepositoryError) in
            try HeldLists(
                of: input?.project, and: served,
                propagation: input?.source.propagation ?? ListSource.defaultPropagation, at: time, notMeasured: "")
        }
        var holders = GateHolders(
            count: nil, whyNotCounted: "", recent: byTime.lists.map(\.list), missing: byTime.missing)
        switch adoption {
        case .failure(let reason): holders.whyNotCounted = reason.words
        case .success(let adoption):
            holders.whyNotCounted = adoption.whyNotMeasured
            holders.count = try self.count(adoption, input?.project, served)
        }
        // A service that cannot be asked for the served list is not believed about its spread either.
        if let why { (holders.count, holders.whyNotCounted) = (nil, why) }
        return GateLists(name: known, newest: newest, holders: holders, service: address)
    }

    /// The list that the service serves; or why it cannot be told.
    private static func served(
        _ name: String, _ address: ServiceAddress?, _ roots: [[UInt8]], _ service: ServiceOptions
    ) async -> (PinList?, why: String?) {
        guard let address else { return (nil, nil) }
        do {
            guard let bytes = try await service.client(address, nil).servedList(name) else {
                return (nil, "\(address) serves no list of this name")
            }
            let known = try KnownList(bytes, named: "the list that \(address) serves", roots: roots)
            if !known.isVerified {
                StandardError.note("\(address): no root verifies this list; it is used unverified")
            }
            guard known.list.name == name else { return (nil, "\(address) serves a list of another name") }
            return (known.list, nil)
        } catch let failure as CommandError {
            return (nil, failure.message)
        } catch let error as RepositoryError {
            return (nil, error.reason)
        } catch {
            return (nil, "\(error)")
        }
    }

    /// The counts of the service, with the lists that are at hand.
    private static func count(
        _ adoption: ServiceAdoption, _ project: ProjectFolder?, _ served: PinList?
    ) throws(CommandError) -> GateHolders.Count? {
        guard let period = adoption.period, let requests = adoption.requests, period > 0, requests >= 0 else {
            return nil
        }
        let hours = period / 3_600 + (period % 3_600 == 0 ? 0 : 1)
        guard let measurement = adoption.measurement else {
            return GateHolders.Count(hours: hours, requests: requests, lists: [], why: adoption.whyNotMeasured)
        }
        let held = try CommandError.wrapping { () throws(RepositoryError) in
            try HeldLists(of: project, and: served, measured: measurement)
        }
        return GateHolders.Count(
            hours: hours, requests: requests,
            lists: held.lists.map { GateHolders.Count.Named($0.list, requests: $0.requests ?? 0) }, why: nil)
    }
}
