// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CommandLineInterface
import NIOHTTP1
import PinListMetadata

/// The list and its roots that the service of a drill serves, as every installation gets them.
///
/// Whether the list is another one is asked with HEAD, which the service counts for no installation.
actor DrillLists {
    private let client: ServiceClient
    private let base: String
    private var tag: String?
    private var list: [UInt8] = []
    private var roots: [[UInt8]] = []

    /// Names a list.
    init(_ address: ServiceAddress, name: String) {
        self.client = ServiceClient(address, nil)
        self.base = address.list(name)
    }

    /// The list and the roots, the newest one last; none before anything is published.
    ///
    /// - Throws: ``CommandError`` when the service cannot be asked.
    func newest() async throws(CommandError) -> (list: [UInt8], roots: [[UInt8]]) {
        let limits = MetadataLimits()
        // Roots are published one after the other, and none is ever taken back.
        while let root = try await self.get("root/\(self.roots.count + 1).json", limits.rootBytes) {
            self.roots.append(root.body)
        }
        let head = try await self.client.answer(
            .init(
                method: .HEAD, url: "\(self.base)/pins.json", body: nil, maximumBytes: ServiceClient.confirmationBytes))
        if head.entityTag == nil || head.entityTag != self.tag,
            let list = try await self.get("pins.json", limits.listBytes)
        {
            (self.tag, self.list) = (list.entityTag, list.body)
        }
        return (self.list, self.roots)
    }

    private func get(_ path: String, _ maximumBytes: Int) async throws(CommandError) -> ServiceAnswer? {
        let answer = try await self.client.answer(
            .init(method: .GET, url: "\(self.base)/\(path)", body: nil, maximumBytes: maximumBytes))
        return answer.status == 200 ? answer : nil
    }
}
