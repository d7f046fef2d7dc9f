// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

extension Pinning {
    /// Fetches the log list that the list in force names, where it is missing. A failure refuses nothing. The earlier
    /// log list stays in force until the file is there and can be read (formats.md, section 3.2).
    func fetchLogs(_ outcome: inout RefreshOutcome, at now: Timestamp) async {
        guard let trust = self.trust, let listed = self.held?.list.logs else {
            return self.removeUnnamedLogs(at: now)
        }
        guard self.lookForLogs(of: trust, at: now).isWanted else { return self.removeUnnamedLogs(at: now) }
        do {
            let bytes = try await self.fetch(listed)
            // Another list may have come into force meanwhile: only the file that it names is used.
            guard let trust = self.trust, self.held?.list.logs == listed else { return }
            if self.storage == .ready {
                do throws(StateStoreError) { try self.archive.persist(bytes, of: listed) } catch {
                    outcome.storeFailure = error
                    self.note(error, at: now)
                }
            }
            self.useLogs(self.archive.logs(for: trust, embedded: bytes, before: self.logs), at: now)
        } catch {
            guard error.code != .cancelled else { return outcome.fetchFailure = error }
            outcome.logsFailure = error
            let kind: PinningEvent.Kind =
                error.code == .tooLarge || error.code == .wrongFile ? .logsUnreadable : .logsMissing
            self.hub.send(PinningEvent(kind, at: now, "the log list \(listed.digest): \(error.reason)"))
        }
        self.removeUnnamedLogs(at: now)
    }

    /// Fetches the file that a list names.
    private func fetch(_ listed: ListedLogs) async throws(FetchError) -> [UInt8] {
        guard let address = self.address else { throw FetchError(.network, "there is no address to refresh from") }
        let response = try await self.answer(
            to: FetchRequest(address: address + listed.path, maximumBytes: listed.length))
        guard response.status == 200 else {
            throw FetchError(
                .status, "the server answered \(response.status)", retryAfter: response.retryAfter)
        }
        guard listed.isFile(response.body) else {
            throw FetchError(.wrongFile, "the server sent another file than the list names")
        }
        return response.body
    }

    /// Looks for the log list of the list in force on the disk: another process may have fetched it, or it can be read
    /// again.
    @discardableResult
    func lookForLogs(of trust: TrustState, at now: Timestamp) -> ListArchive.FoundLogs {
        let found = self.archive.logs(for: trust, embedded: self.embeddedLogs, before: self.logs)
        self.areLogsUnread = found.isUnreadable
        if found.inForce !== self.logs { self.publish(found, at: now) }
        return found
    }

    /// Puts the log list of the list in force into force.
    private func useLogs(_ found: ListArchive.FoundLogs, at now: Timestamp) {
        guard found.inForce !== self.logs else { return self.announce(found.findings, at: now) }
        self.publish(found, at: now)
    }

    private func removeUnnamedLogs(at now: Timestamp) {
        guard self.storage == .ready, let trust = self.trust else { return }
        do throws(StateStoreError) {
            try self.archive.removeLogs(unnamedIn: trust, inForce: self.logs, embedded: self.embeddedLogs)
        } catch {
            self.note(error, at: now)
        }
    }
}
