// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation
import PinListMetadata
import PinListRepository

/// The service as `release` needs it: the list that clients have now, and the place where the next one goes.
struct ReleaseService {
    /// The list that the service serves, and that is current under the project's newest root: what the next one is
    /// compared with, and follows. A list that only revoked signers vouch for bounds nothing: a thief may have signed
    /// the highest version that there is (formats.md, section 3.3).
    var current: PinList? { self.isCurrent ? self.served : nil }

    /// The list that the service serves, verified under the project's roots; `nil` when there is none yet.
    private let served: PinList?
    private let isCurrent: Bool

    /// The envelope of the list that the service serves, where it is current.
    let servedEnvelope: [UInt8]?

    private let client: ServiceClient
    private let project: ProjectFolder

    /// Requests the list that the service serves.
    ///
    /// - Parameters:
    ///   - options: The address of the service, and the token.
    ///   - input: The project.
    /// - Returns: `nil` when nothing is to be published: there is no service, or no token.
    /// - Throws: ``CommandError`` when the service cannot be asked, or serves what the project's roots do not hold.
    init?(_ options: ServiceOptions, _ input: SourceInput) async throws(CommandError) {
        guard let address = try options.address(or: input.source) else {
            guard options.tokenFile == nil else {
                throw CommandError(
                    .usage, "--token-file without a service", hint: "--server URL, or server: in tumbler.yaml")
            }
            return nil
        }
        guard let token = try options.token() else { return nil }
        self.client = ServiceClient(address, token)
        self.project = input.project
        guard let bytes = try await self.client.servedList(input.source.name) else {
            self.served = nil
            self.servedEnvelope = nil
            self.isCurrent = false
            return
        }
        do throws(RepositoryError) {
            let roots = try input.project.roots()
            self.served = try KnownList(bytes, named: "\(address)", roots: roots).list
            var client = try KnownList.chain(roots)
            // It has been loaded once already, and is loaded again.
            try? client?.load(list: bytes)
            self.isCurrent = client?.outside?.status == .current
            self.servedEnvelope = self.isCurrent ? bytes : nil
        } catch {
            throw CommandError(
                .doesNotHold, "the list that is served does not verify: \(error.reason)",
                hint: "is a root missing in this checkout, or is another key signing?")
        }
    }

    /// A warning before the release: `pins.json` is not what clients have.
    ///
    /// - Parameter held: The list of `pins.json`.
    func differences(from held: PinList?) -> [String] {
        switch (held, self.served) {
        case (nil, nil): return []
        case (let held?, nil):
            return ["\(self.client.address) has no list yet; pins.json is version \(held.version)"]
        case (nil, let served?):
            return ["there is no pins.json; \(self.client.address) serves version \(served.version)"]
        case (_, let served?) where !self.isCurrent:
            return [
                "\(self.client.address) serves version \(served.version), which no signer of the newest root signed"
            ]
        case (let held?, let served?):
            if held.version == served.version {
                return held.payload == served.payload
                    ? []
                    : [
                        "pins.json and \(self.client.address) have different lists of version \(held.version): who signed?"
                    ]
            }
            return [
                "pins.json is version \(held.version), and \(self.client.address) serves version \(served.version)"
                    + (held.version < served.version ? ": is this checkout up to date?" : "")
            ]
        }
    }

    /// Writes the list into the project and publishes it with all roots. When it is refused, `pins.json` is what it
    /// was; when the outcome is unknown, it holds the new list, so that `publish` can be repeated.
    ///
    /// - Returns: The new publications on the service.
    /// - Throws: ``CommandError``.
    func publish(_ envelope: [UInt8]) async throws(CommandError) -> [String] {
        let (publication, before) = try CommandError.wrapping { () throws(RepositoryError) in
            (try Publication(roots: try self.project.roots(), list: envelope), try self.project.newestList())
        }
        let logs = try CommandError.wrapping { () throws(RepositoryError) in
            try publication.listedLogs.map { listed throws(RepositoryError) in try self.project.logs(listed) }
        }
        try CommandError.wrapping { () throws(RepositoryError) in
            try ProjectFolder.write(envelope, to: self.project.list)
        }
        do throws(ServiceClient.PublishingError) {
            return try await self.client.publish(publication, logs: logs)
        } catch {
            let failure = error.failure
            guard error.isUnknown else { throw self.restoring(before, after: failure) }
            // It may be out. When it is, publishing once more says when.
            try? ListHistory.keep(envelope, in: self.project, publishedAt: nil)
            throw CommandError(
                failure.exitCode, "\(failure.message); \(ProjectFolder.listName) holds the new list",
                hint: "repeat tumbler publish: what is published already stays unchanged")
        }
    }

    /// Puts back what was in `pins.json`.
    private func restoring(_ before: [UInt8]?, after failure: CommandError) -> CommandError {
        do {
            if let before {
                try ProjectFolder.write(before, to: self.project.list)
            } else {
                try FileManager.default.removeItem(at: self.project.list)
            }
            return CommandError(failure.exitCode, "\(failure.message); nothing was written", hint: failure.hint)
        } catch {
            return CommandError(
                failure.exitCode, "\(failure.message); \(ProjectFolder.listName) could not be put back",
                hint: "restore \(ProjectFolder.listName) from version control: the list in it is not published")
        }
    }
}
