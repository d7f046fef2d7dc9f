// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import Foundation
import PinListMetadata
import PinListRepository

/// `--published FILE|URL`: the list that clients have now.
struct PublishedOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The list that clients have now: a file, or the address of a list or of its pins.json.",
            valueName: "file|url"))
    var published: String?

    /// Reads the list. It is verified where there are roots; without any, a note says so.
    ///
    /// - Parameter roots: The envelopes of the project's roots.
    /// - Throws: ``CommandFailure``.
    func load(roots: [[UInt8]]) async throws(CommandFailure) -> KnownList? {
        guard let published else { return nil }
        let bytes: [UInt8]
        if published.contains("://") {
            bytes = try await PublishedDownload.bytes(of: published)
        } else {
            bytes = try InputFile.read(published)
        }
        let known: KnownList
        do { known = try KnownList(bytes, named: published, roots: roots) } catch { throw CommandFailure(error) }
        if !known.isVerified {
            StandardError.note("\(published): no root vouches for this list; it is believed as it is")
        }
        return known
    }

    /// The host that the list comes from, where it was given as an address.
    var host: HostName? {
        guard let published, published.contains("://") else { return nil }
        return URLComponents(string: published)?.host.flatMap { try? HostName($0) }
    }
}
