// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// The content of one failure report, read within limits. It is an unsigned, unverified claim of its sender.
///
/// All texts are ``PrintableText`` and bounded by ``ReportBodyLimits``. What no member is named for is not kept: not
/// `app-vendor-id`, and none of the identifiers that an app or a browser may add.
public struct CollectedReport: Hashable, Sendable {
    /// The kind of failure.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The chain was valid, and no key of it was one that the list allows.
        case pin
        /// TLS failed for another reason: the chain was not valid.
        case tls
        /// A request without TLS to a pinned host.
        case cleartext
        /// A root or a list was refused, or the list in force is stale (formats.md, section 5).
        case incident
        /// Anything else that was reported.
        case other
    }

    /// The list that was in force.
    public struct List: Hashable, Sendable {
        /// Its name.
        public let name: String?
        /// Its version.
        public let version: Int64?
        /// The lower-case hex SHA-256 of its envelope.
        package let digest: String?

        /// States a list.
        package init(name: String?, version: Int64?, digest: String?) {
            self.name = name
            self.version = version
            self.digest = digest
        }
    }

    /// The app that reports.
    public struct App: Hashable, Sendable {
        /// Its bundle identifier.
        public let bundleID: String?
        /// Its version.
        public let version: String?
        /// The platform, such as `IOS`.
        public let platform: String?
        /// The platform's version.
        public let platformVersion: String?

        /// States an app.
        package init(bundleID: String?, version: String?, platform: String?, platformVersion: String?) {
            self.bundleID = bundleID
            self.version = version
            self.platform = platform
            self.platformVersion = platformVersion
        }
    }

    /// The kind of failure.
    public internal(set) var kind: Kind
    /// The reason: a code of `a-z 0-9 . _ -`, at most ``ReportBodyLimits/reasonBytes``. A sender may invent one.
    public internal(set) var reason: String
    /// The time of the failure, by the sender's clock.
    public internal(set) var claimedTime: Timestamp?
    /// The host of the connection, normalised where it can be; empty for an incident.
    public internal(set) var hostname = ""
    /// The port of the connection.
    package internal(set) var port: Int?
    /// The entry that applied; the host where the report names none.
    public internal(set) var notedHostname = ""
    /// Whether the entry has its subdomains with it.
    package internal(set) var includesSubdomains: Bool?
    /// Whether the connection was refused, and not just reported.
    package internal(set) var isEnforced: Bool?
    /// The time at which the pins were to end.
    package internal(set) var expiresAt: Timestamp?
    /// The app.
    public internal(set) var app: App
    /// The list.
    public internal(set) var list: List
    /// The pins that the sender expected.
    package internal(set) var knownPins: [Pin] = []
    /// The signals that the app noticed of its surroundings.
    public internal(set) var signals: [String] = []
    /// The certificates that the server presented, in DER, leaf first; not proven to be a chain.
    package internal(set) var servedChain: [[UInt8]] = []
    /// The path that the sender's platform validated, in DER, leaf first.
    public internal(set) var validatedChain: [[UInt8]] = []
    /// The refused envelope of an incident. Its signatures say whether it is evidence; they are not verified here.
    public internal(set) var envelope: [UInt8]?

    /// The leaf of ``chain``, read; `nil` without a chain, or when its leaf cannot be read.
    public internal(set) var leaf: ReadableCertificate?
    /// The issuer; likewise.
    public internal(set) var issuer: SeenIssuer?

    /// The validated path, else the served chain.
    public var chain: [[UInt8]] { self.validatedChain.isEmpty ? self.servedChain : self.validatedChain }

    /// Whether the sender's platform validated ``chain``. Then its device trusts the root: one that it came with, or
    /// one that was installed later.
    package var isChainValidated: Bool { !self.validatedChain.isEmpty }

    /// ``chain`` for people; `nil` in the place of a certificate that cannot be read.
    public var readableChain: [ReadableCertificate?] { self.chain.map { ReadableCertificate($0) } }

    /// The length of ``document``, about: certificates in base64, and texts.
    package var documentBytes: Int {
        (self.servedChain + self.validatedChain).reduce(self.textBytes) { $0 + $1.count * 4 / 3 }
    }

    /// The bytes of the texts and pins in it: all that a sender writes into it beside certificates and an envelope. An
    /// honest report has some hundred, and there is room for 60,000.
    var textBytes: Int {
        var bytes = self.knownPins.count * MemoryLayout<Pin>.stride
        func add(_ text: String?) { bytes += text?.utf8.count ?? 0 }
        for text in self.signals { add(text) }
        for text in self.leaf?.names ?? [] { add(text) }
        add(self.leaf?.subject)
        add(self.leaf?.issuer)
        add(self.issuer?.name)
        add(self.hostname)
        add(self.notedHostname)
        add(self.reason)
        add(self.app.bundleID)
        add(self.app.version)
        add(self.app.platform)
        add(self.app.platformVersion)
        add(self.list.name)
        return bytes
    }
}
