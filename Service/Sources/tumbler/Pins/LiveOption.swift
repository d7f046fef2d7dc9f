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
        help: ArgumentHelp("With --live: the anchors in PEM, or the word system.", valueName: "file|system"))
    var roots: String = RootsOption.system

    @Option(
        name: .customLong("connect-to"),
        help: ArgumentHelp(
            "With --live: connect elsewhere for HOST; may be given several times.", valueName: "host:address:port"))
    var connections: [String] = []

    /// The number of hosts that are asked at once.
    private static let hostsAtOnce = 16

    func validate() throws {
        guard self.connections.allSatisfy({ Self.connection($0) != nil }) else {
            throw ValidationError("--connect-to is written HOST:ADDRESS:PORT")
        }
        if !self.live, !self.connections.isEmpty { throw ValidationError("--connect-to goes with --live") }
    }

    /// Observes hosts; `nil` without `--live`.
    ///
    /// - Throws: ``CommandError`` when there are no anchors. A host that cannot be asked is an observation.
    func observe(_ hosts: [HostName], at time: Timestamp) async throws(CommandError) -> [ServedPath]? {
        guard self.live else { return nil }
        let validator = PathValidator(
            roots: try RootsOption.load(self.roots), monotonicNanoseconds: monotonicNanoseconds)
        let places = Dictionary(self.connections.compactMap { Self.connection($0) }) { first, _ in first }
        return await withTaskGroup(of: (Int, ServedPath).self) { group in
            var observations = [ServedPath?](repeating: nil, count: hosts.count)
            var next = 0
            func start() {
                guard next < hosts.count else { return }
                let (index, host) = (next, hosts[next])
                next += 1
                group.addTask { (index, await Self.observe(host, at: places[host], validator, time)) }
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
        _ host: HostName, at place: ServerAddress?, _ validator: PathValidator, _ time: Timestamp
    ) async -> ServedPath {
        let bracketed = host.description.contains(":") ? "[\(host)]" : "\(host)"
        guard let server = ServerAddress("\(bracketed):443") else { return ServedPath(host, failure: "no address") }
        do throws(CommandError) {
            let presented = try await LiveServer.presentedChain(of: server, connectingTo: place)
            switch await validator.validate(presented: presented, as: .host(host), at: time).result {
            case .success(let path): return ServedPath(host, path: path)
            case .failure(let refusal): return ServedPath(host, failure: "it does not validate: \(refusal.detail)")
            }
        } catch {
            return ServedPath(host, failure: error.message)
        }
    }

    private static func connection(_ text: String) -> (HostName, ServerAddress)? {
        guard let colon = text.firstIndex(of: ":"), let host = try? HostName(String(text[..<colon])),
            let place = ServerAddress(String(text[text.index(after: colon)...]))
        else { return nil }
        return (host, place)
    }
}
