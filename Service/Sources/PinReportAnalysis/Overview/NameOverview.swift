// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
package import PinListMetadata

/// One list as it is published, and how far it has spread.
package struct NameOverview: Sendable {
    /// The name.
    package let name: String
    /// The list that is served.
    package let list: PinList
    /// Its digest.
    package let digest: String
    /// The time of publication.
    package let publishedAt: Timestamp
    /// The newest root.
    package let root: Root
    /// The spread of the list.
    package let adoption: AdoptionEstimate
    /// Questions by the hour, of the last week: clients and caches together.
    package let questions: HostRate

    /// States what there is to know of a list.
    package init(
        name: String, list: PinList, digest: String, publishedAt: Timestamp, root: Root, adoption: AdoptionEstimate,
        questions: HostRate
    ) {
        self.name = name
        self.list = list
        self.digest = digest
        self.publishedAt = publishedAt
        self.root = root
        self.adoption = adoption
        self.questions = questions
    }
}

extension Sequence<NameOverview> {
    /// The hosts of the lists. Others are what senders say.
    package var listedHosts: Set<String> { Set(self.flatMap { $0.list.domains.map(\.entry.domain.description) }) }
}
