// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
internal import CertificatePinning
internal import Foundation
@_spi(Adapters) internal import PinListClient

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Evaluates the connections of a session again when rules come into force.
///
/// A session shows no connections to close. It has `flush`: later requests use new connections. Requests that are
/// running on refused ones are cancelled at once for a denied key or a revoked certificate; for the rest the second
/// check evaluates their responses.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class PolicyWatch: @unchecked Sendable {
    private let ledger: ConnectionLedger
    private let lock = NSLock()
    private weak var session: URLSession?
    private var watching: Task<Void, Never>?

    /// Observes until it is released.
    init(pinning: Pinning, ledger: ConnectionLedger) {
        self.ledger = ledger
        let changes = pinning.policyChanges()
        let watching = Task { [weak self] in
            // By hand: `for await` asks for a method that is newer than iOS 15 where the compiler finds it.
            var changes = changes.makeAsyncIterator()
            while await changes.next() != nil { self?.reevaluate(by: pinning) }
        }
        self.lock.withLock { self.watching = watching }
    }

    deinit { self.watching?.cancel() }

    /// The session of the connections.
    func attach(_ session: URLSession) { self.lock.withLock { self.session = session } }

    private func reevaluate(by pinning: Pinning) {
        var refused: Set<String> = []
        var denied: Set<String> = []
        func note(_ decision: PinningDecision, _ server: ConnectionLedger.Server) {
            guard decision.verdict == .block else { return }
            refused.insert(server.host.description)
            if [.deniedKey, .deniedUndecidable, .revoked].contains(decision.reason) {
                denied.insert(server.host.description)
            }
        }
        let evaluated = self.ledger.evaluated
        for (server, path) in evaluated {
            let decision = pinning.decisionAgain(
                for: path, host: server.host.description, connection: ConnectionFacts(port: server.port))
            if decision.verdict == .block { self.ledger.forget(server) }
            note(decision, server)
        }
        // Connections of before, whose server has shown another path since: that one is kept.
        for opening in self.ledger.opened {
            for path in opening.paths where path != evaluated[opening.server] {
                let decision = pinning.decisionAgain(
                    for: path, host: opening.server.host.description,
                    connection: ConnectionFacts(port: opening.server.port))
                note(decision, opening.server)
            }
        }
        guard !refused.isEmpty, let session = self.lock.withLock({ self.session }) else { return }
        session.flush {}
        guard !denied.isEmpty else { return }
        let hosts = denied
        session.getAllTasks { tasks in
            for task in tasks {
                guard let host = task.currentRequest?.url?.host, let name = try? HostName(host) else { continue }
                if hosts.contains(name.description) { task.cancel() }
            }
        }
    }
}
#endif
