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

    /// The newest list of the project.
    let own: PinList?

    /// The list that the service serves.
    let served: PinList?

    /// Both of them.
    var newest: [PinList] { [self.own, self.served].compactMap { $0 } }

    /// The lists that installations hold.
    let holders: GateHolders

    /// The log lists that all of them name.
    let logs: NamedLogs

    /// Whether there is a service, and its list could not be had.
    let isServedUnknown: Bool

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
        // A token that is for another service is said before anything is asked.
        if let address { _ = try service.token(for: address) }
        let answer = await Served.asked(of: known, address, roots, service)
        let (served, why) = (answer.list, answer.why)
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
        // A checkout that is behind would call safe what that list refuses.
        var isServedUnknown = false
        if case .unknown = answer, let address {
            holders.missing.append("the list that \(address) serves")
            isServedUnknown = true
        }
        let counted = holders.count?.lists.map(\.list) ?? []
        var logs = NamedLogs(of: newest + holders.recent + counted, in: input?.project)
        if let served, let listed = served.logs, let address, case .missing = logs.logs(of: served),
            let bytes = await service.client(address, nil).servedLogs(listed, of: known)
        {
            logs.add(bytes, as: listed)
        }
        return GateLists(
            name: known, own: own, served: served, holders: holders, logs: logs, isServedUnknown: isServedUnknown,
            service: address)
    }

    /// The rules of the gate by these lists.
    ///
    /// - Parameters:
    ///   - maxRefusing: The share of installations that may refuse, in percent.
    ///   - time: Now.
    ///   - comparesPinsAlone: Whether Certificate Transparency is left out, where a key alone is asked about.
    /// - Throws: `InputError` for a list that no rules can be made of.
    func rules(
        maxRefusing: Double, at time: Timestamp, comparingPinsAlone comparesPinsAlone: Bool = false
    ) throws(InputError) -> GateRules {
        try GateRules(
            newest: self.newest, holders: self.holders,
            logs: { list in comparesPinsAlone ? .notAsked : self.logs.logs(of: list) }, maxRefusing: maxRefusing,
            at: time)
    }

    /// The list that a service serves.
    private enum Served {
        /// There is no service.
        case notAsked
        /// Nothing is published under the name: in words.
        case nothing(String)
        /// The list.
        case known(PinList)
        /// The list could not be had or does not verify: why.
        case unknown(String)

        var list: PinList? { if case .known(let list) = self { list } else { nil } }

        /// The reason for which there is no list; `nil` where there is one, or no service.
        var why: String? {
            switch self {
            case .nothing(let why), .unknown(let why): why
            case .notAsked, .known: nil
            }
        }

        /// Asks for it.
        static func asked(
            of name: String, _ address: ServiceAddress?, _ roots: [[UInt8]], _ service: ServiceOptions
        ) async -> Served {
            guard let address else { return .notAsked }
            do {
                guard let bytes = try await service.client(address, nil).servedList(name) else {
                    return .nothing("\(address) serves no list of this name")
                }
                let known = try KnownList(bytes, named: "the list that \(address) serves", roots: roots)
                if !known.isVerified {
                    StandardError.note("\(address): no root verifies this list; it is used unverified")
                }
                guard known.list.name == name else { return .unknown("\(address) serves a list of another name") }
                return .known(known.list)
            } catch let failure as CommandError {
                return .unknown(failure.message)
            } catch let error as RepositoryError {
                return .unknown(error.reason)
            } catch {
                return .unknown("\(error)")
            }
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
