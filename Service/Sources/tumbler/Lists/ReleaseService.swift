// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation
import PinListMetadata
import PinListRepository

/// The service as `release` needs it: the list that clients have now, and the place where the next one goes.
struct ReleaseService: ReleaseDestination {
    /// The list that the service serves, where it is current under the project's newest root: what the next one is compared
    /// with, and follows.
    var current: PinList? { self.isCurrent ? self.served : nil }

    /// The list that the service serves, verified under the project's roots; `nil` when there is none yet.
    private let served: PinList?
    private let isCurrent: Bool

    /// The envelope of the list that the service serves, where it is current.
    let servedEnvelope: [UInt8]?

    private let client: ServiceClient

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
        guard let token = try options.token(for: address) else { return nil }
        self.client = options.client(address, token)
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

    /// Publishes: all of it, or nothing.
    func publish(_ publication: Publication, logs: [UInt8]?) async -> PublishingOutcome {
        do throws(ServiceClient.PublishingError) {
            return .published(try await self.client.publish(publication, logs: logs))
        } catch {
            return error.isUnknown ? .unknown(error.failure) : .refused(error.failure)
        }
    }
}

extension CommandError {
    /// Says why the service did not take a release, and what is in the project now.
    init(_ error: ReleaseError) {
        let failure =
            error.reason as? CommandError ?? (error.reason as? RepositoryError).map { CommandError($0) }
            ?? CommandError(.undecided, "\(error.reason)")
        let name = ProjectFolder.listName
        switch error.project {
        case .unchanged:
            self.init(failure.exitCode, "\(failure.message); nothing was written", hint: failure.hint)
        case .newList:
            self.init(
                failure.exitCode, "\(failure.message); \(name) holds the new list",
                hint: ServiceClient.PublishingError.hintOfUnknown)
        case .notRestored:
            self.init(
                failure.exitCode, "\(failure.message); \(name) could not be put back",
                hint: "restore \(name) from version control: the list in it is not published")
        case .published:
            self = .afterPublishing(failure)
        }
    }

    /// The failure of what comes after a list is published: it must not pass for one of publishing.
    static func afterPublishing(_ failure: CommandError) -> CommandError {
        CommandError(
            .undecided, "the list is published, and not all was done after that: \(failure.message)",
            hint: "mend that, then tumbler publish once more, and tumbler export for a folder")
    }
}
