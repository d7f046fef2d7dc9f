// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import HTTPTypes
internal import HummingbirdCore
internal import PinListStore
internal import PinReportAnalysis

/// Answers what is asked about lists and roots, which is nearly all that is asked.
struct ListResponder: Sendable {
    let lists: ServedLists
    let listRequests: ListRequestCounter
    let source: RequestSource
    let clock: any ServiceClock

    /// The answer, and a question about a list counted; `nil` for what is no path of a list or a root.
    ///
    /// - Parameters:
    ///   - request: The request, of whose target nothing is in doubt.
    ///   - peer: The address of the other end of the connection.
    func answer(to request: HTTPRequest, from peer: IPAddress?) -> PreparedResponse? {
        let path = URI(request.path ?? "").path
        // A log list is uploaded where it is served.
        if request.method == .put, Self.isOfLogs(path) { return nil }
        let answer = self.lists.answer(path)
        guard answer != nil || Self.isOfList(path) else { return nil }
        guard request.method == .get || request.method == .head else {
            return Self.isOfLogs(path) ? Self.wrongLogsMethod : Self.wrongMethod
        }
        return answer.map { answer in
            self.answer(answer, request.method, request.headerFields[.ifNoneMatch]) {
                self.asker(peer, request.headerFields)
            }
        } ?? Self.notPublished
    }

    /// The other end of a connection, where no field of a request says more.
    struct Asker: Sendable {
        /// Whether it is a cache, which asks for many.
        let isEdge: Bool
        /// The address that the limits on counted requests apply to; `nil` for an edge, and for this machine.
        let address: SourceAddress?
    }

    /// The other end of a connection without a request, as far as it is known.
    func asker(_ peer: IPAddress?) -> Asker { self.asker(peer, [:]) }

    /// The answer to a request of which nothing is in doubt, and a question about a list counted; `nil` for what is no
    /// path of a list or a root.
    func answer(to head: ListRequestHead, from asker: Asker) -> PreparedResponse? {
        guard let answer = self.lists.answer(head.path) else {
            return Self.isOfList(head.path) ? Self.notPublished : nil
        }
        return self.answer(answer, .get, head.ifNoneMatch) { asker }
    }

    /// Whether a list or a root could be at a path: in something below a name. A name may end with `.json` itself.
    private static func isOfList(_ path: String) -> Bool {
        let prefix = "/v1/lists/"
        return path.hasPrefix(prefix) && path.hasSuffix(".json") && path.dropFirst(prefix.count).contains("/")
    }

    /// Whether a log list could be at a path: `/v1/lists/{name}/logs/{sha256}.json`.
    private static func isOfLogs(_ path: String) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return Self.isOfList(path) && parts.count == 6 && parts[4] == "logs"
    }

    private static let wrongMethod = Problem(
        .methodNotAllowed, "method", "lists and roots are read with GET", headers: [.allow: "GET, HEAD"]
    ).ready

    private static let wrongLogsMethod = Problem(
        .methodNotAllowed, "method", "log lists are read with GET, and uploaded with PUT",
        headers: [.allow: "GET, HEAD, PUT"]
    ).ready

    /// 404 for the next root is what clients expect most of the time.
    private static let notPublished = Problem(
        .notFound, "not-found", "nothing is published here", headers: [.cacheControl: "public, max-age=60"]
    ).ready

    private func answer(
        _ answer: ServedLists.Answer, _ method: HTTPRequest.Method, _ ifNoneMatch: String?, _ asker: () -> Asker
    ) -> PreparedResponse {
        // Most name the list that is served.
        let tags = ifNoneMatch.flatMap { $0 == answer.tagText ? [answer.tag] : EntityTag.tags(in: $0) }
        if answer.isList, method == .get {
            let (digest, other) = (tags?.first?.digest, asker())
            self.listRequests.count(
                answer.name, digest: digest,
                isPublished: digest.map { $0 == answer.tag.digest || self.lists.isPublished($0, under: answer.name) }
                    ?? false,
                from: other.isEdge ? .edge : .installation, address: other.address, at: self.clock.now)
        }
        // `*` and what cannot be read are as if they were absent: a client that gets the list has lost nothing.
        if tags?.contains(answer.tag) == true { return answer.notModified }
        return method == .head ? answer.head : answer.whole
    }

    private func asker(_ peer: IPAddress?, _ fields: HTTPFields) -> Asker {
        let isEdge = self.source.isEdge(fields, peer: peer)
        return Asker(isEdge: isEdge, address: isEdge ? nil : self.boundedAddress(of: fields, peer))
    }

    /// The address that the limits on counted requests apply to; `nil` for requests of this machine, where
    /// installations are simulated. Strangers come from it only through a proxy that is not among the trusted ones.
    private func boundedAddress(of fields: HTTPFields, _ peer: IPAddress?) -> SourceAddress? {
        if let peer, peer.isLoopback, !RequestSource.isForwarded(fields) { return nil }
        let address = self.source.address(fields, peer: peer)
        // Clients without a known address share one source.
        return SourceAddress(bytes: address?.bytes ?? [0, 0, 0, 0])
    }
}

extension IPAddress {
    /// Whether it is this machine's own (RFC 1122, section 3.2.1.3; RFC 4291, section 2.5.3).
    fileprivate var isLoopback: Bool {
        self.bytes.count == 4 ? self.bytes.first == 127 : self.bytes == Array(repeating: 0, count: 15) + [1]
    }
}
