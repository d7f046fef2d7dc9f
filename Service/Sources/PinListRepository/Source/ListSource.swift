// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata
public import PinRotation

/// The source of a list: `tumbler.yaml` and the files that it includes (formats.md, section 9).
///
/// Equal when two say the same; where it stands does not matter.
public struct ListSource: Hashable, Sendable {
    /// The keys that sign, where the command line names none.
    public struct Signers: Hashable, Sendable {
        /// The keys that sign lists.
        public var pins: [String]
        /// The keys that sign roots.
        public var root: [String]
    }

    /// The name of the list.
    public var name: String
    /// `expiresAt` is `issuedAt` and these seconds.
    public var validFor: Int64
    /// The time that clients wait before they ask again, in seconds.
    public var refreshAfter: Int64
    /// The time that a pin is out before its certificate may be served and the old one removed, in seconds.
    public var propagation: Int64
    /// The known frequency at which installations are opened: for telling when a rotation may go on. It is in no list.
    public var opened: AdoptionForecast?
    /// The rule for hosts that no entry covers.
    public var unlisted: UnlistedHosts
    /// The addresses for reports of failures that no entry covers.
    public var reportTo: [String]
    /// The number of installations of a million that report failures, where an entry does not say otherwise.
    public var reportPerMillion: Int64
    /// The log list that policies of Certificate Transparency are evaluated with.
    public var logs: SourceLogs?
    /// The service that lists are published to.
    public var server: Located<String>?
    /// The keys that sign.
    public var signers: Signers
    /// The algorithms that all clients can verify: every threshold must be within their reach.
    public var verifiable: Set<MetadataKey.Algorithm>
    /// The entries: those of the file, then those of the files that it includes.
    public var domains: [SourceDomain]
    /// The pin sets that no entry uses.
    public var unusedPinSets: [Located<String>]
    /// The keys that are refused anywhere in a path.
    public var denied: [Located<DeniedKey>]
    /// The certificates that are refused by issuer and serial number.
    public var revoked: [Located<RevokedCertificates>]
    /// The suspensions.
    public var suspended: [Located<Suspension>]

    /// The file itself, as it was named.
    let file: String

    /// The maximum number of bytes of one file.
    public static let maximumLength = YAMLText.maximumLength

    /// The default validity of a list: 60 days.
    public static let defaultValidFor: Int64 = 60 * 86_400

    /// The default time that a pin is out before it is needed: 30 days.
    public static let defaultPropagation: Int64 = 30 * 86_400

    /// The default algorithms that all clients can verify: Apple's systems before 26 have no ML-DSA.
    public static let defaultVerifiable: Set<MetadataKey.Algorithm> = [.ecdsaP256SHA256, .ed25519]

    /// Equal when they say the same.
    public static func == (left: ListSource, right: ListSource) -> Bool {
        left.name == right.name && left.validFor == right.validFor && left.refreshAfter == right.refreshAfter
            && left.propagation == right.propagation && left.unlisted == right.unlisted
            && left.reportTo == right.reportTo && left.reportPerMillion == right.reportPerMillion
            && left.logs == right.logs && left.server == right.server && left.signers == right.signers
            && left.verifiable == right.verifiable
            && left.domains == right.domains && left.denied == right.denied
            && left.revoked == right.revoked && left.suspended == right.suspended
    }

    /// Feeds the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.name) }
}

/// Reads the files that a source names. The disk is a parameter, so that tests have none.
public protocol SourceFiles: Sendable {
    /// Reads a file whole.
    ///
    /// - Parameters:
    ///   - path: Its path: absolute, or from the folder that the source's own name is from.
    ///   - limit: The most bytes.
    /// - Throws: ``RepositoryError`` of code `file`, whose reason does not repeat the path.
    func bytes(of path: String, limit: Int) throws(RepositoryError) -> [UInt8]
}
