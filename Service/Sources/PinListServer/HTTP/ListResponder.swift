// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import HTTPTypes
internal import HummingbirdCore

/// Answers what is asked about lists and roots, which is nearly all that is asked.
struct ListResponder: Sendable {
    let lists: ServedLists
    let inquiries: InquiryCounter
    let source: RequestSource
    let clock: any ServiceClock

    /// The answer, and a question about a list counted; `nil` for what is no path of a list or a root.
    ///
    /// - Parameters:
    ///   - request: The request, of whose target nothing is in doubt.
    ///   - peer: Who is at the other end of the connection.
    func answer(to request: HTTPRequest, from peer: IPAddress?) -> ReadyAnswer? {
        let path = URI(request.path ?? "").path
        let answer = self.lists.answer(path)
        guard answer != nil || Self.isOfList(path) else { return nil }
        guard request.method == .get || request.method == .head else { return Self.wrongMethod }
        return answer.map { self.answer($0, request, peer) } ?? Self.notPublished
    }

    /// Whether a list or a root could be at a path: in something below a name. A name may end with `.json` itself.
    private static func isOfList(_ path: String) -> Bool {
        let prefix = "/v1/lists/"
        return path.hasPrefix(prefix) && path.hasSuffix(".json") && path.dropFirst(prefix.count).contains("/")
    }

    private static let wrongMethod = Problem(
        .methodNotAllowed, "method", "lists and roots are read with GET", headers: [.allow: "GET, HEAD"]
    ).ready

    /// 404 for the next root is what clients expect most of the time.
    private static let notPublished = Problem(
        .notFound, "not-found", "nothing is published here", headers: [.cacheControl: "public, max-age=60"]
    ).ready

    private func answer(_ answer: ServedLists.Answer, _ request: HTTPRequest, _ peer: IPAddress?) -> ReadyAnswer {
        let tags = request.headerFields[.ifNoneMatch].map { EntityTag.tags(in: $0) }
        if answer.isList, request.method == .get {
            self.count(answer.name, tags.flatMap { $0 }?.first?.digest, request, peer)
        }
        // `*` and what cannot be read are as if they were absent: a client that gets the list has lost nothing.
        if tags.flatMap({ $0 })?.contains(answer.tag) == true { return answer.notModified }
        return request.method == .head ? answer.head : answer.whole
    }

    private func count(_ name: String, _ digest: String?, _ request: HTTPRequest, _ peer: IPAddress?) {
        let isPublished = digest.map { self.lists.isPublished($0, under: name) } ?? false
        let isEdge = self.source.isEdge(request.headerFields, peer: peer)
        self.inquiries.count(
            name, digest: digest, isPublished: isPublished, from: isEdge ? .edge : .installation,
            address: isEdge ? nil : self.boundedAddress(of: request.headerFields, peer), at: self.clock.now)
    }

    /// Of whose requests only so many count; `nil` for those of this machine, where installations are simulated.
    /// Strangers come from it only through a proxy that is not among the trusted ones.
    private func boundedAddress(of fields: HTTPFields, _ peer: IPAddress?) -> SourceAddress? {
        if let peer, peer.isLoopback, !RequestSource.isForwarded(fields) { return nil }
        let address = self.source.address(fields, peer: peer)
        // Those of whom no address is known share that of nobody.
        return SourceAddress(bytes: address?.bytes ?? [0, 0, 0, 0])
    }
}

extension IPAddress {
    /// Whether it is this machine's own (RFC 1122, section 3.2.1.3; RFC 4291, section 2.5.3).
    fileprivate var isLoopback: Bool {
        self.bytes.count == 4 ? self.bytes.first == 127 : self.bytes == Array(repeating: 0, count: 15) + [1]
    }
}
