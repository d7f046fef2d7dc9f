// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata

/// One list as it is published, and how far it has spread.
public struct NameOverview: Sendable {
    /// The name.
    public let name: String
    /// The list that is served.
    public let list: PinList
    /// Its digest.
    public let digest: String
    /// When it was published.
    public let publishedAt: Timestamp
    /// The newest root.
    public let root: Root
    /// How far it has spread.
    public let adoption: AdoptionEstimate
    /// Questions by the hour, of the last week: clients and caches together.
    public let questions: HostRate
}
