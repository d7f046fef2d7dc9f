// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import PinListMetadata

/// The place to which a release is published: a Tumbler service, or what another program uses instead of one.
public protocol ReleaseDestination: Sendable {
    /// The list that clients get there, verified under the project's roots and current under the newest; `nil` when there is
    /// none. A list that only revoked signers vouch for bounds nothing: a thief may have signed the highest version that
    /// there is (formats.md, section 3.3).
    var current: PinList? { get }

    /// The envelope of ``current``.
    var servedEnvelope: [UInt8]? { get }

    /// Publishes all of it, or nothing.
    ///
    /// - Parameters:
    ///   - publication: The roots and the list.
    ///   - logs: The log list that the list names; `nil` where it names none.
    func publish(_ publication: Publication, logs: [UInt8]?) async -> PublishingOutcome
}

/// The outcome of publishing.
public enum PublishingOutcome: Sendable {
    /// It is published; what is new.
    case published([String])
    /// It is not published.
    case refused(any Error)
    /// It may be published: the answer is missing or unclear.
    case unknown(any Error)
}

/// The error of a release that did not end well, with what is in the project now.
public struct ReleaseError: Error {
    /// The content of the project.
    public enum ProjectState: Sendable {
        /// `pins.json` is what it was.
        case unchanged
        /// `pins.json` is the new list, so that publishing can be repeated: it may be published.
        case newList
        /// `pins.json` is the new list, which is not published, and what it was could not be put back.
        case notRestored
        /// `pins.json` is the new list, which is published; what was to be written after that is not.
        case published
    }

    /// The reason for which the destination or a folder did not take it, or what follows was not done.
    public let reason: any Error

    /// The content of the project.
    public let project: ProjectState
}

extension Publication {
    /// The roots and the list of a project.
    ///
    /// - Parameters:
    ///   - roots: The envelopes of all roots, the first one first.
    ///   - list: The envelope of the list.
    /// - Throws: ``RepositoryError`` when one is no signed envelope, or they do not belong together.
    public init(roots: [[UInt8]], list: [UInt8]) throws(RepositoryError) {
        let files = roots.enumerated().map { File("root/\($0.offset + 1).json", $0.element) }
        try self.init(files + [File(ProjectFolder.listName, list)])
    }
}
