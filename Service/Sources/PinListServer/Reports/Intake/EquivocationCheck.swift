// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinListMetadata

/// Whether a refused envelope that a client sent proves that signers signed two truths: its signatures hold under a root
/// that was published, and it is not what was published under its version. Reports can be made up; this cannot.
enum EquivocationCheck {
    /// The list in an envelope, when its signatures hold under a root that was published; `nil` when it proves nothing.
    ///
    /// - Parameters:
    ///   - envelope: What a client refused.
    ///   - published: What is published under the name.
    ///   - anchor: The configured root.
    static func list(_ envelope: [UInt8], _ published: PublishedName, anchor: [UInt8]) -> PinList? {
        guard var trust = try? TrustState(bundledRoot: anchor, bundledList: nil) else { return nil }
        for root in published.roots.dropFirst() where (try? trust.load(root: root)) == nil { return nil }
        guard (try? trust.load(list: envelope)) != nil else { return nil }
        return trust.outside?.list
    }

    /// What is wrong with an envelope that ``list(_:_:anchor:)`` took, in a sentence; `nil` when nothing is.
    ///
    /// - Parameters:
    ///   - envelope: What a client refused.
    ///   - list: What is in it.
    ///   - sameVersion: The envelopes of its version that were ever served.
    static func finding(_ envelope: [UInt8], _ list: PinList, sameVersion: [[UInt8]]) -> String? {
        guard let payload = Self.payload(envelope), !sameVersion.contains(where: { Self.payload($0) == payload })
        else { return nil }
        let digest = Envelope.digest(of: envelope)
        if !sameVersion.isEmpty {
            return "\(list.name): a client was offered another list of version \(list.version), signed by our signers, "
                + "digest \(digest)"
        }
        return "\(list.name): a client was offered list version \(list.version), signed by our signers and never "
            + "published here, digest \(digest)"
    }

    private static func payload(_ envelope: [UInt8]) -> [UInt8]? {
        try? Envelope(envelope, of: .pins, limits: MetadataLimits()).payload
    }
}
