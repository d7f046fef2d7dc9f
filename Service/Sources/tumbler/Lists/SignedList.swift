// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import PinListMetadata

/// A signed list that chains are evaluated under, as an app that ships it would.
///
/// The installation is one whose place in a rollout is not known: it enforces what all installations enforce.
struct SignedList: Sendable {
    private let trust: TrustState
    private let fresh: PinningPolicy
    private let stale: PinningPolicy

    /// Reads and verifies a list.
    ///
    /// - Parameters:
    ///   - list: The file of its envelope.
    ///   - root: The file of the root that an app ships.
    /// - Throws: ``CommandError`` when a file cannot be read or does not verify.
    init(list: String, root: String) throws(CommandError) {
        let rootBytes = try InputFile.read(root)
        let listBytes = try InputFile.read(list)
        do throws(MetadataError) {
            self.trust = try TrustState(bundledRoot: rootBytes, bundledList: listBytes)
        } catch {
            throw CommandError(.undecided, "\(error.kind == .root ? root : list): \(error)")
        }
        guard let list = self.trust.bundled?.list, let fresh = try? list.policy(for: nil, isStale: false),
            let stale = try? list.policy(for: nil, isStale: true)
        else { throw CommandError(.undecided, "\(list): no rules can be made of it") }
        self.fresh = fresh
        self.stale = stale
    }

    /// The log list that it names.
    var logs: ListedLogs? { self.trust.bundled?.list.logs }

    /// Whether an entry asks for a policy of Certificate Transparency.
    var asksForTransparency: Bool { self.trust.bundled?.list.asksForTransparency ?? false }

    /// The rules at a time.
    func policy(at time: Timestamp) -> PinningPolicy { self.trust.isStale(time) ? self.stale : self.fresh }

    /// The time that rules are evaluated by.
    func referenceTime(_ time: Timestamp) -> Timestamp { self.trust.referenceTime(time) }
}

/// The lists of a batch: most questions name the same one.
actor SignedListCache {
    /// The maximum number of lists that are kept; the cache is emptied when there are more.
    private static let maximumCount = 16

    private var lists: [[String]: SignedList] = [:]

    /// The list of two files.
    ///
    /// - Throws: ``InputError`` when it cannot be read or does not verify.
    func list(_ list: String, root: String) throws(InputError) -> SignedList {
        if let known = self.lists[[list, root]] { return known }
        let read: SignedList
        do { read = try SignedList(list: list, root: root) } catch { throw InputError(.policy, error.message) }
        if self.lists.count >= Self.maximumCount { self.lists.removeAll() }
        self.lists[[list, root]] = read
        return read
    }
}
