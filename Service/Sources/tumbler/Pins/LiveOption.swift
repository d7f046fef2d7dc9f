// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import PathValidation
import PinListRepository

/// `--live`: looks at what hosts serve now.
struct LiveOption: ParsableArguments {
    @Flag(help: "Look at what each host serves now, on port 443.")
    var live = false

    @Option(
        help: ArgumentHelp(
            "With --live: the anchors of what hosts serve; those of --cacert unless given.", valueName: "file|system"),
        completion: .file())
    var roots: String?

    /// The number of hosts that are asked at once.
    private static let hostsAtOnce = 16

    /// Asks hosts; `nil` without `--live`.
    ///
    /// - Throws: ``CommandError`` when there are no anchors. A host that cannot be asked is an observation.
    func observe(
        _ hosts: [HostName], by connections: Connections, at time: Timestamp
    ) async throws(CommandError) -> [ServedPath]? {
        guard self.live else { return nil }
        let validator = PathValidator(
            roots: try connections.roots(self.roots), monotonicNanoseconds: monotonicNanoseconds)
        return await withTaskGroup(of: (Int, ServedPath).self) { group in
            var observations = [ServedPath?](repeating: nil, count: hosts.count)
            var next = 0
            func start() {
                guard next < hosts.count else { return }
                let (index, host) = (next, hosts[next])
                next += 1
                group.addTask { (index, await Self.observe(host, by: connections, validator, time)) }
            }
            for _ in 0..<Self.hostsAtOnce { start() }
            while let (index, observation) = await group.next() {
                observations[index] = observation
                start()
            }
            return observations.compactMap { $0 }
        }
    }

    private static func observe(
        _ host: HostName, by connections: Connections, _ validator: PathValidator, _ time: Timestamp
    ) async -> ServedPath {
        let server = ServerAddress(host, 443)
        do throws(CommandError) {
            let presented = try await LiveServer.presentedChain(of: server, by: connections)
            switch await validator.validate(presented: presented, as: .host(host), at: time).result {
            case .success(let path): return ServedPath(host, path: path)
            case .failure(let refusal): return ServedPath(host, failure: "it does not validate: \(refusal.detail)")
            }
        } catch {
            return ServedPath(host, failure: error.message)
        }
    }
}
