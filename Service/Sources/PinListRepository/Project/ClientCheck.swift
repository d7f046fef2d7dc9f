// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import PinListMetadata

/// Checks a list as every client will, before it is published.
public enum ClientCheck {
    /// Offers a list to a client that holds what is published.
    ///
    /// - Parameters:
    ///   - list: The envelope of the list.
    ///   - project: The folder of the roots and the published list.
    ///   - time: The time at which it is offered.
    /// - Throws: ``RepositoryError`` of code `metadata`, with the client's reason.
    public static func verify(
        _ list: [UInt8], in project: ProjectFolder, at time: Timestamp
    ) throws(RepositoryError) {
        guard var client = try KnownList.chain(try project.roots()) else {
            throw RepositoryError(.file, "there is no root in the project folder", hint: "tumbler init makes one")
        }
        let published = try project.newestList()
        do throws(MetadataError) {
            if let published { try client.load(list: published) }
            _ = try client.accept(list: list, at: time)
        } catch {
            throw RepositoryError(.metadata, "clients would not take this list: \(error.code): \(error.detail)")
        }
    }
}
