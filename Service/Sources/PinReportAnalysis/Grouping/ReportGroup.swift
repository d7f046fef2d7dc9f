// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import PinListMetadata

/// A group of failures: reports with the same key are one line on the dashboard.
///
/// The key is: kind, reason, app and its version, list and its version, noted host, and **who issued** the leaf. Not
/// the leaf itself: an interceptor makes a new leaf, with a new key, for each connection, and a key with the leaf in it
/// makes a group of each of its connections. The leaves are counted within the group (``DistinctLeaves``), so both
/// stories keep their shape: a rotation is a group with one leaf from many networks, an interception one with many
/// leaves.
///
/// An issuer is told apart by the pin of its certificate, where that is in the chain, else by its name. One exception:
/// a product that is known to intercept (``KnownInterceptor``) is one issuer with any key, because antivirus
/// software and debugging proxies make a root for each device, and each device would be a group. What an attacker gains
/// by taking such a name is to be counted among the interceptors.
///
/// Everything in the key comes from outside, so the number of groups is bounded (``GroupQuota``): what finds no room is
/// counted in ``overflow(isListed:)``.
public struct ReportGroup: Hashable, Sendable {
    /// The maximum number of groups that are worth keeping at a time: enough for each of 1,000 hosts to fail in ten
    /// ways.
    package static let maximumGroups = 10_000

    /// The lower-case hex SHA-256 of the key: the same on every machine and in every version of the service.
    public let id: String
    /// The kind of failure.
    package let kind: CollectedReport.Kind
    /// The reason.
    package let reason: String
    /// The entry that applied; empty for an incident.
    package let notedHostname: String
    /// The app's bundle identifier.
    package let appID: String
    /// The app's version.
    package let appVersion: String
    /// The list's name.
    package let listName: String
    /// The list's version.
    package let listVersion: Int64?
    /// The issuer's name; empty where no chain came along.
    package let issuer: String
    /// The issuer's pin; `nil` for a product that has many, and where no certificate of it came along.
    package let issuerPin: Pin?
    /// Whether it is a group of attested reports, of unattested ones, or of those that nothing was asked of: none of them
    /// makes another's group larger, or moves its cause.
    package let attestation: AttestationState
    /// The reason of a group that stands for those that there was no room for. No report has it: one that says so is
    /// `unnamed`.
    package static let overflowReason = "overflow"

    /// The group of a report that no assertion is asked of.
    public init(_ report: CollectedReport) { self.init(report, .notAsked) }

    /// The group of a report.
    package init(_ report: CollectedReport, _ attestation: AttestationState) {
        self.init(
            kind: report.kind, reason: report.reason, notedHostname: report.notedHostname, app: report.app,
            list: report.list, issuer: report.issuer, attestation: attestation)
    }

    /// The group for what is new and finds no room: one for each kind.
    package static func overflow(of kind: CollectedReport.Kind) -> ReportGroup {
        Self.overflow(of: kind, notedHostname: "", listName: nil, .notAsked)
    }

    /// The group that counts the reports of this one when there is no room for it.
    ///
    /// - Parameter isListed: Whether it belongs to a published list. Then the overflow keeps the noted host, or for an
    ///   incident the list's name: as many as the lists have. All others are one for each kind.
    package func overflow(isListed: Bool) -> ReportGroup {
        guard isListed else {
            return Self.overflow(of: self.kind, notedHostname: "", listName: nil, self.attestation)
        }
        return Self.overflow(
            of: self.kind, notedHostname: self.notedHostname, listName: self.kind == .incident ? self.listName : nil,
            self.attestation)
    }

    private static func overflow(
        of kind: CollectedReport.Kind, notedHostname: String, listName: String?, _ attestation: AttestationState
    ) -> ReportGroup {
        ReportGroup(
            kind: kind, reason: Self.overflowReason, notedHostname: notedHostname,
            app: CollectedReport.App(bundleID: nil, version: nil, platform: nil, platformVersion: nil),
            list: CollectedReport.List(name: listName, version: nil, digest: nil), issuer: nil, attestation: attestation
        )
    }

    /// A group as it was stored.
    package init(
        id: String, kind: CollectedReport.Kind, reason: String, notedHostname: String, appID: String,
        appVersion: String, listName: String, listVersion: Int64?, issuer: String, issuerPin: Pin?,
        attestation: AttestationState = .notAsked
    ) {
        self.id = id
        self.kind = kind
        self.reason = reason
        self.notedHostname = notedHostname
        self.appID = appID
        self.appVersion = appVersion
        self.listName = listName
        self.listVersion = listVersion
        self.issuer = issuer
        self.issuerPin = issuerPin
        self.attestation = attestation
    }

    private init(
        kind: CollectedReport.Kind, reason: String, notedHostname: String, app: CollectedReport.App,
        list: CollectedReport.List, issuer: SeenIssuer?, attestation: AttestationState
    ) {
        self.attestation = attestation
        self.kind = kind
        self.reason = reason
        self.notedHostname = notedHostname
        self.appID = app.bundleID ?? ""
        self.appVersion = app.version ?? ""
        self.listName = list.name ?? ""
        self.listVersion = list.version
        self.issuer = issuer?.name ?? ""
        self.issuerPin = issuer?.interceptor == nil ? issuer?.pin : nil
        // An array in strict JSON: no text can look like two.
        var key: [JSONValue] = [
            .string("1"), .string(kind.rawValue), .string(reason), .string(notedHostname), .string(self.appID),
            .string(self.appVersion), .string(self.listName), list.version.map { .integer($0) } ?? .null,
            .string(issuer?.identity ?? ""),
        ]
        // As before for those that nothing was asked of, so that groups of earlier days go on.
        if attestation != .notAsked { key.append(.string(attestation.rawValue)) }
        self.id = Envelope.digest(of: JSONValue.array(key).bytes)
    }
}
