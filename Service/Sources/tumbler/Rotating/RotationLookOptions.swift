// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import PathValidation
import PinListRepository

/// The options by which `rotate` probes each address of its hosts.
struct RotationLookOptions: ParsableArguments {
    @Flag(name: .customLong("no-look"), help: "Do not probe the host: only earlier probes count.")
    var noLook = false

    @Option(
        name: .customLong("host"),
        help: "A further host, below an entry of the plan. May be given several times.", transform: RotatedHost.host)
    var hosts: [HostName] = []

    @Option(
        help: ArgumentHelp(
            "The anchors of what the host serves; those of --cacert unless given.", valueName: "file|system"),
        completion: .file())
    var roots: String?

    func validate() throws {
        if self.noLook, !self.hosts.isEmpty { throw ValidationError("--no-look and --host exclude each other") }
    }

    /// Looks at each address of some hosts, now; `nil` when they are not probed.
    ///
    /// - Throws: ``CommandError`` when there are no anchors.
    func look(
        at hosts: [HostName], by connections: Connections, _ time: Timestamp
    ) async throws(CommandError) -> RotationLook? {
        guard !self.noLook else { return nil }
        let observer = HostObserver(
            validator: PathValidator(
                roots: try connections.roots(self.roots), monotonicNanoseconds: monotonicNanoseconds),
            connections: connections, time: time)
        let seen = await observer.observe(hosts)
        return RotationLook(
            hosts: zip(hosts, seen).map { host, observations in
                RotationLook.Host(host: host, observations: observations, narrowing: observer.narrowing(of: host))
            })
    }
}
