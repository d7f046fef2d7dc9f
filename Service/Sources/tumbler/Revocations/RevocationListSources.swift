// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The addresses of a command's revocation lists. Each is asked once, however it is spelled, and however many certificates of
/// however many hosts name it.
struct RevocationListSources: Sendable {
    /// The maximum number of addresses of certificates that are asked (formats.md, section 8).
    static let maximumAddresses = 256
    /// The maximum number of lists that are fetched at once: their servers are those of the CAs (decision 0065).
    static let atOnce = 4

    /// One of them.
    struct Source: Hashable, Sendable {
        /// The address as it was written first.
        let text: String
        /// Whether the operator names it, and no certificate.
        let isGiven: Bool
        /// One text for all spellings.
        fileprivate let identity: String
        /// Its host and port; `nil` for what is no address.
        fileprivate let server: String?
    }

    private var waiting: [Source] = []
    private var known: Set<String> = []
    private var troubles: [String: String] = [:]
    private var unreached: Set<String> = []
    private var namedCount = 0

    /// Adds an address. What the operator names comes before what certificates name.
    mutating func add(_ text: String, isGiven: Bool) {
        let address = FetchAddress(text)
        let identity = address?.identity ?? text
        guard self.known.insert(identity).inserted else { return }
        if !isGiven {
            self.namedCount += 1
            guard self.namedCount <= Self.maximumAddresses else {
                self.troubles[identity] = "over \(Self.maximumAddresses) addresses are not asked"
                return
            }
        }
        self.waiting.append(Source(text: text, isGiven: isGiven, identity: identity, server: address?.server))
    }

    /// Takes the next ones, ``atOnce`` at most; none when all were taken.
    ///
    /// A server that was not reached once is not waited for again: a certificate may name many lists of one that never answers.
    mutating func next() -> [Source] {
        var batch: [Source] = []
        var rest = self.waiting[...]
        while batch.count < Self.atOnce, let source = rest.popFirst() {
            if !source.isGiven, let server = source.server, self.unreached.contains(server) {
                self.troubles[source.identity] = "\(server) was not reached for another list, and is not asked again"
            } else {
                batch.append(source)
            }
        }
        self.waiting = Array(rest)
        return batch
    }

    /// Keeps why there is no list.
    mutating func note(_ trouble: RevocationListDownload.DownloadError, of source: Source) {
        self.troubles[source.identity] = trouble.reason
        if trouble.isUnreached, let server = source.server { self.unreached.insert(server) }
    }

    /// The reason for which there is no list at an address, in any spelling; `nil` where there is one.
    func trouble(of text: String) -> String? { self.troubles[FetchAddress(text)?.identity ?? text] }
}
