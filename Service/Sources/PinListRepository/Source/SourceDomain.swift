// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata

/// An entry as it stands in a source.
public struct SourceDomain: Hashable, Sendable {
    /// The entry, without its pins.
    var entry: PinList.Domain

    /// Its pins, in their order.
    public let pins: [SourcePin]

    /// Where its `domain` was written.
    public let position: SourcePosition

    /// The host that the entry is for.
    public var host: HostName { self.entry.entry.domain }

    /// The entry, as it goes into a list.
    public var domain: PinList.Domain {
        var domain = self.entry
        domain.entry.pins = self.pins.map(\.known)
        return domain
    }

    /// Equal when what is published is.
    public static func == (left: SourceDomain, right: SourceDomain) -> Bool { left.domain == right.domain }

    /// Feeds what `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.domain) }
}
