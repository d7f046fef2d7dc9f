// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PathValidation
import PinListRepository

/// Asks hosts for their certificates, some at once, and validates what they present.
struct HostObserver: Sendable {
    /// How many hosts are asked at once.
    static let hostsAtOnce = 8

    /// The anchors, and how much work a validation may be.
    let validator: PathValidator

    /// What is asked elsewhere.
    let places: [ConnectTo]

    /// The time at which the certificates must be valid.
    let time: Timestamp

    /// The longest that asking one host may take.
    var timeout: Duration = LiveServer.timeout

    /// Asks hosts on port 443.
    ///
    /// - Returns: What was seen, in the order of the hosts.
    func observe(_ hosts: [HostName]) async -> [ProbeObservation] {
        await withTaskGroup(of: (Int, ProbeObservation).self) { group in
            var observations = [ProbeObservation](repeating: .unreachable("not asked"), count: hosts.count)
            var next = 0
            func start() {
                guard next < hosts.count else { return }
                let (index, host) = (next, hosts[next])
                next += 1
                group.addTask { (index, await self.observe(host)) }
            }
            for _ in 0..<Self.hostsAtOnce { start() }
            while let (index, observation) = await group.next() {
                observations[index] = observation
                start()
            }
            return observations
        }
    }

    private func observe(_ host: HostName) async -> ProbeObservation {
        let bracketed = host.description.contains(":") ? "[\(host)]" : "\(host)"
        guard let address = FetchAddress("https://\(bracketed)/"), let server = ServerAddress("\(bracketed):443")
        else { return .unreachable("it has no address") }
        do throws(CommandFailure) {
            let presented = try await LiveServer.presentedChain(
                of: server, connectingTo: self.place(of: address, server), timeout: self.timeout)
            switch await self.validator.validate(presented: presented, as: .host(host), at: self.time).result {
            case .success(let path): return .validated(path)
            case .failure(let refusal): return .refused(refusal.reason, refusal.detail)
            }
        } catch {
            return .unreachable(error.message)
        }
    }

    private func place(of address: FetchAddress, _ server: ServerAddress) -> ServerAddress? {
        guard let place = self.places.first(where: { $0.covers(address) }) else { return nil }
        let host = place.otherHost ?? server.host
        let bracketed = host.description.contains(":") ? "[\(host)]" : "\(host)"
        return ServerAddress("\(bracketed):\(place.otherPort ?? server.port)")
    }
}
