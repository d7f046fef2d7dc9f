// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinReportAnalysis
import ServiceParsers

/// Fields of requests to the service: validators, addresses that proxies write, tokens; and what its configuration has
/// of the same kind.
enum RequestFields: FuzzTarget {
    static let name = "request-fields"

    private static let peer = try? HostName("127.0.0.1")

    static func check(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        self.checkTags(text)
        self.checkAddress(text)
        if let id = AccessToken.id(of: text) { precondition(id.utf8.count == 16) }
        if let address = ListenAddress(text) {
            precondition(ListenAddress(address.description) == address)
        }
        if let range = NetworkRange(text) { precondition(NetworkRange(range.description) == range) }
    }

    private static func checkTags(_ text: String) {
        guard let tags = EntityTag.tags(in: text) else { return }
        precondition(!tags.isEmpty)
        for tag in tags {
            precondition(!tag.digest.contains("\""))
            // The tags that we would send are understood, weak and with a suffix as well.
            guard !tag.digest.contains(","), !tag.digest.hasSuffix("-gzip") else { continue }
            for field in [tag.text, "W/\(tag.text)", "\"\(tag.digest)-gzip\""] where field.utf8.count <= 4_096 {
                precondition(EntityTag.tags(in: field) == [tag])
            }
        }
    }

    private static func checkAddress(_ text: String) {
        guard let peer = self.peer.flatMap({ IPAddress($0) }), let own = NetworkRange("127.0.0.0/8") else {
            preconditionFailure("the loopback address is none")
        }
        let believing = RequestSource(trustedProxies: [own], edges: [])
        let fields = [
            believing.address(forwardedFor: text, peer: peer),
            believing.address(forwardedFor: nil, forwarded: text, peer: peer),
        ]
        // A proxy's own address is never taken for the client's, unless there is no other.
        for found in fields { precondition(found.map { $0 == peer || !own.contains($0) } == true) }
        precondition([fields[0], peer].contains(believing.address(forwardedFor: text, forwarded: text, peer: peer)))
        precondition(RequestSource(trustedProxies: [], edges: []).address(forwardedFor: text, peer: peer) == peer)
    }
}
