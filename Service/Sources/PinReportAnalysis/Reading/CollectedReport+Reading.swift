// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import PinListMetadata

extension CollectedReport {
    /// Reads one object of section 5's, TrustKit's or RFC 7469's members.
    ///
    /// - Parameters:
    ///   - members: The object.
    ///   - entry: The domain of the published entry that applies to a host.
    package init(_ members: ReportMembers, _ entry: (HostName) -> String?) throws(ReportError) {
        let ours = try members.object("tumbler")
        let hasHost = members.has("hostname") || members.has("noted-hostname")
        let reason = try ours?.text("reason")
        guard hasHost || reason != nil else {
            throw ReportError(
                .notReport,
                "\(members.place) has neither a hostname nor a reason in an object tumbler; send the "
                    + "members of RFC 7469, section 3"
            )
        }
        let result = try members.integer("validation-result", in: 0...5)
        let (kind, code) = Self.reading(reason: reason, result: result)
        self.init(
            kind: hasHost ? kind : .incident, reason: hasHost ? code : Self.code(reason ?? ""),
            claimedTime: try members.time("date-time"), app: try Self.app(members), list: try Self.list(ours))
        guard hasHost else {
            self.envelope = try ours?.bytes(
                "envelope", maximum: ReportBodyLimits.envelopeBytes, else: .envelopeInvalid)
            return
        }
        let host = try members.text("hostname")
        let noted = try members.text("noted-hostname")
        self.hostname = Self.host(host ?? noted ?? "")
        self.notedHostname = noted.map(Self.host) ?? Self.noted(self.hostname, entry)
        self.port = try members.integer("port", in: 0...65_535).map { Int($0) }
        self.includesSubdomains = try members.flag("include-subdomains")
        self.isEnforced = try members.flag("enforce-pinning")
        self.expiresAt = try members.time("effective-expiration-date")
        self.knownPins = try members.texts("known-pins", maximum: ReportBodyLimits.pins).compactMap { try? Pin($0) }
        self.signals =
            try ours?.texts("signals", maximum: ReportBodyLimits.signals).map {
                PrintableText.line($0, maximumLength: ReportBodyLimits.textLength)
            } ?? []
        self.servedChain = ReportedChain.read(
            try members.texts("served-certificate-chain", maximum: ReportBodyLimits.values))
        self.validatedChain = ReportedChain.read(
            try members.texts("validated-certificate-chain", maximum: ReportBodyLimits.values))
        self.leaf = self.chain.first.flatMap { ReadableCertificate($0) }
        self.issuer = SeenIssuer(of: self.chain)
    }

    private init(kind: Kind, reason: String, claimedTime: Timestamp?, app: App, list: List) {
        self.kind = kind
        self.reason = reason
        self.claimedTime = claimedTime
        self.app = app
        self.list = list
    }

    /// A failure that a browser reports: only where and what.
    package init(
        networkError type: String, host: String, port: Int?, at time: Timestamp?, _ entry: (HostName) -> String?
    ) {
        let (kind, code) = Self.reading(reason: type, result: 2)
        self.init(
            kind: kind, reason: code, claimedTime: time,
            app: App(bundleID: nil, version: nil, platform: nil, platformVersion: nil),
            list: List(name: nil, version: nil, digest: nil))
        self.hostname = Self.host(host)
        self.notedHostname = Self.noted(self.hostname, entry)
        self.port = port
    }

    /// The noted host of a report that names none: the domain of the published entry that applies, else the host.
    private static func noted(_ host: String, _ entry: (HostName) -> String?) -> String {
        (try? HostName(host)).flatMap(entry) ?? host
    }

    /// A host, normalised as lists and requests are (formats.md, section 2), so that spellings do not make groups; what
    /// is none, which is reported as `host-invalid`, as it can be printed.
    package static func host(_ text: String) -> String {
        if let host = try? HostName(text) { return host.description }
        return PrintableText.line(text, maximumLength: ReportBodyLimits.textLength)
    }

    private static func app(_ members: ReportMembers) throws(ReportError) -> App {
        App(
            bundleID: try members.line("app-bundle-id"), version: try members.line("app-version"),
            platform: try members.line("app-platform"), platformVersion: try members.line("app-platform-version"))
    }

    private static func list(_ ours: ReportMembers?) throws(ReportError) -> List {
        let digest = try ours?.text("list-digest")
        return List(
            name: try ours?.line("list-name", maximum: MetadataLimits.nameBytes),
            version: try ours?.integer("list-version", in: 1...MetadataLimits.version),
            digest: digest.flatMap { ListedLogs.isDigest($0) ? $0 : nil })
    }
}
