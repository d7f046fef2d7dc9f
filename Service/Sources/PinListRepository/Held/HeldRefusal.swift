// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import PinListMetadata
internal import PinRotation

/// The lists that installations may still hold and that refuse something, and the share that holds them.
public struct HeldRefusal: Hashable, Sendable {
    /// Their versions.
    public let versions: [Int64]

    /// The share of the installations that refuse, 0 to 1; `nil` where nothing was counted.
    public let share: Double?

    /// The time at which a newer list than the last of them went out; `nil` when the newest is among them, or nothing
    /// is known.
    public let until: Timestamp?

    /// Whether so few refuse that it is tolerated: measured, and at most ``HeldLists/maximumRefusing``.
    public var isTolerated: Bool { self.share.map { $0 <= HeldLists.maximumRefusing } ?? false }

    /// The refusing lists, in words without a full stop.
    public var text: String {
        let lists = ListVersions.text(of: self.versions)
        let verb = self.versions.count == 1 ? "refuses" : "refuse"
        guard let share else { return "\(lists), which installations may still hold, \(verb) it" }
        let part = Share.percent(share)
        guard !self.versions.isEmpty else { return "\(part) of the installations hold lists that are not in lists/" }
        return "\(lists) \(verb) it: \(part) of the installations hold that, or a list that is not in lists/"
    }
}

extension HeldLists {
    /// The lists that refuse something.
    ///
    /// - Parameter parts: For each of ``lists`` the part of those who hold it that refuses, 0 to 1.
    /// - Returns: `nil` when no installation refuses.
    func refusal(_ parts: [Double]) -> HeldRefusal? {
        let refusing = zip(self.lists, parts).filter { $0.1 > 0 }
        let versions = refusing.map(\.0.list.version).reduce(into: [Int64]()) { if $0.last != $1 { $0.append($1) } }
        guard self.isMeasured else {
            guard !refusing.isEmpty else { return nil }
            let ends = refusing.map(\.0.until)
            let until = ends.contains(nil) ? nil : ends.compactMap { $0 }.max()
            return HeldRefusal(versions: versions, share: nil, until: until)
        }
        // Installations that hold a list unknown here are counted with those that refuse.
        let share = refusing.reduce(self.unknownShare) { $0 + ($1.0.share ?? 0) * $1.1 }
        guard share > 0 else { return nil }
        return HeldRefusal(versions: versions, share: share, until: nil)
    }
}
