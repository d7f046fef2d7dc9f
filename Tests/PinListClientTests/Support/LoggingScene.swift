// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinningTesting
import TestData

@testable import PinListClient

/// Two logs, a leaf that both signed and one that neither did, and a client whose list asks for them.
struct LoggingScene {
    let logs = [SigningLog("A"), SigningLog("B")]
    let logged: ValidatedPath
    let unlogged: ValidatedPath
    var client: TestClient

    init(_ store: any StateStore = MemoryStore()) throws {
        let yesterday = TestClient.start.secondsSince1970 - 86_400
        func path(_ logs: [SigningLog]) throws -> ValidatedPath {
            ValidatedPath(
                uncheckedValidatedPath: [
                    try LoggedLeaf(loggedBy: logs, at: yesterday).leaf, LoggedLeaf.issuer,
                ])
        }
        self.logged = try path(self.logs)
        self.unlogged = try path([])
        self.client = try TestClient(store: store)
    }

    /// The log list of both logs.
    func file(at time: String = "2026-11-20T00:00:00Z", state: String = "usable") -> [UInt8] {
        SigningLog.list(of: self.logs, at: time, state: state)
    }

    /// The entry of both leaves, which have one key.
    func entry(
        _ rule: TransparencyRule? = TransparencyRule(.enforce, .chrome), mode: PinnedDomain.Mode = .enforce
    ) throws -> PinList.Domain {
        let pin = try Pin(publicKeyOf: self.logged.certificates[0])
        return PinList.Domain(
            PinnedDomain(
                try HostName(TestClient.host), mode: mode, pins: [KnownPin(pin)],
                reportTo: ["https://reports.example.com/v1/reports"], transparency: rule))
    }

    /// Publishes a list that names a log list.
    ///
    /// - Parameters:
    ///   - file: The log list; `nil` for none.
    ///   - rule: What its entry asks for.
    ///   - isServed: Whether it can be had.
    func publish(
        _ file: [UInt8]?, _ rule: TransparencyRule? = TransparencyRule(.enforce, .chrome), isServed: Bool = true,
        mode: PinnedDomain.Mode = .enforce, _ edit: (inout PinList) -> Void = { _ in }
    ) throws {
        let entry = try self.entry(rule, mode: mode)
        if let file, isServed { self.serve(file) }
        try self.client.publish { list in
            list.domains = [entry]
            list.logs = file.flatMap { ListedLogs(of: $0) }
            edit(&list)
        }
    }

    /// Makes a log list available.
    func serve(_ file: [UInt8]) { self.client.server.publish { $0.logFiles.append(file) } }
}

extension Pinning {
    /// The decision on a path for the host of the scene.
    nonisolated func decide(_ path: ValidatedPath) -> PinningDecision {
        self.decision(for: path, host: TestClient.host)
    }

    /// How often events of a kind were sent.
    nonisolated func count(of kind: PinningEvent.Kind) async -> Int { await self.kinds().count { $0 == kind } }
}
