// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
import PinListClient
import PinListMetadata
import PinListRepository
@_spi(Tools) import PinningNIO

/// `--published FILE|URL`: the list that clients have now.
struct PublishedOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The list that clients have now: a file, or the address of a list or of its pins.json.",
            valueName: "file|url"), completion: .file())
    var published: String?

    /// Reads the list. It is verified where there are roots; without any, a note says so.
    ///
    /// - Parameters:
    ///   - roots: The envelopes of the project's roots.
    ///   - connections: How it is fetched.
    /// - Throws: ``CommandError``.
    func load(roots: [[UInt8]], by connections: Connections) async throws(CommandError) -> KnownList? {
        guard let published else { return nil }
        let bytes: [UInt8]
        if published.contains("://") {
            bytes = try await PublishedDownload.bytes(of: published, by: connections)
        } else {
            bytes = try InputFile.read(published)
        }
        let known: KnownList
        do { known = try KnownList(bytes, named: published, roots: roots) } catch { throw CommandError(error) }
        if !known.isVerified {
            StandardError.note("\(published): no root verifies this list; it is used unverified")
        }
        return known
    }

    /// The host that the list comes from, where it was given as an address.
    var host: HostName? {
        guard let published, published.contains("://") else { return nil }
        return FetchAddress(published)?.host
    }
}

/// The list that clients have, from where they get it.
enum PublishedDownload {
    /// Fetches the list at an address, or the `pins.json` below it.
    ///
    /// - Parameters:
    ///   - address: The address of the list, or the one above it.
    ///   - connections: How it is fetched.
    /// - Throws: ``CommandError`` with what to look at.
    static func bytes(of address: String, by connections: Connections) async throws(CommandError) -> [UInt8] {
        let address = FetchAddress(address)?.url() ?? address
        let path = address.hasSuffix(".json") ? address : address + (address.hasSuffix("/") ? "" : "/") + "pins.json"
        guard ReportAddress.isAllowed(path) else {
            // It is not repeated: a password may be in it.
            throw CommandError(
                .usage, "the address of the list is not an https address",
                hint: "https://HOST/PATH, without name and password; http is for loopback alone")
        }
        let fetcher = try await connections.aside.fetcher(for: path)
        let response: FetchResponse
        do {
            response = try await fetcher.fetch(FetchRequest(address: path, maximumBytes: MetadataLimits().listBytes))
        } catch {
            throw NetworkProblem.failure(path, error, connections, answer: .seconds(FetchRequest.totalSeconds))
        }
        guard response.status == 200 else {
            throw CommandError(
                .undecided, "\(path): the server answers \(response.status)",
                hint: "the address of a list ends with its name")
        }
        return response.body
    }
}

/// Warns before a root is published too early: the list that clients have lacks signatures that the root asks for. A
/// client with the root would refuse that list, or hold it as superseded.
enum PublishedListWarning {
    /// The lines, one for each demand that is not met.
    ///
    /// - Parameters:
    ///   - root: The root that is signed.
    ///   - list: The envelope of the newest list; `nil` when there is none, and then nothing is wrong.
    static func lines(of root: Root, _ list: [UInt8]?) -> [String] {
        guard let list, let envelope = try? Envelope(list, of: .pins, limits: MetadataLimits()) else { return [] }
        return SignatureDemand.all(.pins, of: root).filter(\.isMadeHere).compactMap { demand in
            let missing = demand.missing(in: envelope)
            guard missing > 0 else { return nil }
            let what = demand.isHybrid ? "its hybrid demand" : "its threshold"
            let count = missing == 1 ? "1 signature" : "\(missing) signatures"
            return
                "\(ProjectFolder.listName) lacks \(count) for \(what): before root \(root.version) is published, publish "
                + "a list that meets it"
        }
    }
}
