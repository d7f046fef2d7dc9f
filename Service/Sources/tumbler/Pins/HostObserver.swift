// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import PathValidation
import PinListRepository

/// Fetches the certificates of hosts, at each of their addresses, some at once, and validates what they present.
struct HostObserver: Sendable {
    /// The number of addresses that are asked at once, and of names that are looked up at once.
    static let hostsAtOnce = 8

    /// The port that is asked.
    private static let port = 443

    /// The anchors, and how much work a validation may be.
    let validator: PathValidator

    /// The connections by which hosts are reached. Several places for one HOST:PORT are several addresses of it.
    let connections: Connections

    /// The time at which the certificates must be valid.
    let time: Timestamp

    /// Hears how many addresses were asked.
    var progress: WorkProgress?

    /// The maximum time that asking one address may take, and looking up one name.
    private var timeout: Duration { self.connections.connectTimeout }

    /// One address of a host.
    private struct Target: Sendable {
        let host: HostName
        /// The server that is asked for.
        let server: ServerAddress
        /// The address; or why that is not known.
        let place: Result<ServerAddress, NoPlaceError>
        /// The proxy that knows the way.
        var proxy: ProxyRules.Proxy?
    }

    /// The reason for which no host can be asked.
    private struct NoPlaceError: Error {
        let address: String?
        let reason: String
    }

    /// Observes hosts on port 443.
    ///
    /// - Returns: The observations of each address, in the order of the hosts.
    func observe(_ hosts: [HostName]) async -> [[AddressObservation]] {
        let targets = await self.inTurn(hosts) { await self.targets(of: $0) }
        self.progress?.expect(targets.joined().count)
        var observations = await self.inTurn(targets.flatMap { $0 }) { target in
            defer { self.progress?.add(1) }
            return await self.observe(target)
        }[...]
        return targets.map { targets in
            defer { observations = observations.dropFirst(targets.count) }
            return Array(observations.prefix(targets.count))
        }
    }

    /// Does something for each of some values, some at once.
    private func inTurn<Value: Sendable, Answer: Sendable>(
        _ values: [Value], _ body: @escaping @Sendable (Value) async -> Answer
    ) async -> [Answer] {
        await withTaskGroup(of: (Int, Answer).self) { group in
            var answers = [Answer?](repeating: nil, count: values.count)
            var next = 0
            func start() {
                guard next < values.count else { return }
                let (index, value) = (next, values[next])
                next += 1
                group.addTask { (index, await body(value)) }
            }
            for _ in 0..<Self.hostsAtOnce { start() }
            while let (index, answer) = await group.next() {
                answers[index] = answer
                start()
            }
            return answers.compactMap { $0 }
        }
    }

    /// The reason for which a host may have further addresses than those that are observed, in words that follow its
    /// name; `nil` where each is observed.
    ///
    /// A proxy chooses one of the addresses of a name, and a family leaves out those of the other. An address that is
    /// named stands for itself.
    func narrowing(of host: HostName) -> String? {
        for place in self.places(of: ServerAddress(host, Self.port)) where !place.host.isAddress {
            guard self.connections.proxies.proxy(for: host, at: place.host) == nil else {
                return "answered through a proxy: which addresses there are is not known; name each with --connect-to"
            }
            guard let family = self.connections.family else { continue }
            return "answered over \(family.name) alone: which other addresses there are is not known; "
                + "leave out --\(family.rawValue), or name each with --connect-to"
        }
        return nil
    }

    private func targets(of host: HostName) async -> [Target] {
        let server = ServerAddress(host, Self.port)
        var targets: [Target] = []
        for place in self.places(of: server) {
            // Which addresses a name has, and which of them is asked, is for the proxy to say.
            if let proxy = self.connections.proxies.proxy(for: host, at: place.host) {
                targets.append(Target(host: host, server: server, place: .success(place), proxy: proxy))
                continue
            }
            for found in await self.addresses(of: place) {
                targets.append(Target(host: host, server: server, place: found))
            }
        }
        return targets
    }

    /// The addresses of a place, or why there is none.
    private func addresses(of place: ServerAddress) async -> [Result<ServerAddress, NoPlaceError>] {
        let found: [String]
        do { found = try await HostAddresses.all(of: place.host, within: self.timeout, self.connections.family) } catch
        {
            let reason = "\(place.host): no answer from the resolver within \(self.timeout)"
            return [.failure(NoPlaceError(address: nil, reason: reason))]
        }
        guard !found.isEmpty else {
            let family = self.connections.family.map { "no \($0.name) address" } ?? "no such host"
            return [.failure(NoPlaceError(address: nil, reason: "\(place): \(family)"))]
        }
        return found.enumerated().map { index, text in
            let written = ServerAddress.text(text, place.port)
            guard index < HostAddresses.maximum else {
                return .failure(
                    NoPlaceError(
                        address: written, reason: "\(place): only \(HostAddresses.maximum) addresses are asked"))
            }
            guard let address = ServerAddress(written) else {
                return .failure(
                    NoPlaceError(address: written, reason: "\(place): \(text) is an address of this machine's link"))
            }
            return .success(address)
        }
    }

    private func observe(_ target: Target) async -> AddressObservation {
        let place: ServerAddress
        switch target.place {
        case .success(let found): place = found
        case .failure(let nowhere):
            return AddressObservation(address: nowhere.address, .unreachable(nowhere.reason))
        }
        do throws(LiveServer.NoAnswerError) {
            let presented = try await LiveServer.chain(
                of: target.server, connectingTo: place, through: target.proxy, timeout: self.timeout)
            let observation: ProbeObservation
            switch await self.validator.validate(presented: presented, as: .host(target.host), at: self.time).result {
            case .success(let path): observation = .validated(path)
            case .failure(let refusal): observation = .refused(refusal.reason, refusal.detail)
            }
            return AddressObservation(address: place.description, observation)
        } catch {
            return AddressObservation(
                address: place.description, .unreachable(error.failure.message), hasNoRoute: error.hasNoRoute)
        }
    }

    /// The places of a server: its own name, or all places that are named for the same HOST:PORT as the first that
    /// covers it.
    private func places(of server: ServerAddress) -> [ServerAddress] {
        let known = self.connections.places
        guard let first = known.first(where: { $0.covers(server.host, server.port) }) else { return [server] }
        var places: [ServerAddress] = []
        for place in known where place.host == first.host && place.port == first.port {
            let other = ServerAddress(place.otherHost ?? server.host, place.otherPort ?? server.port)
            guard !places.contains(where: { $0.description == other.description }) else { continue }
            places.append(other)
        }
        return places
    }
}
