// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata

/// A report: its body, its addresses and its identity.
///
/// Source: formats.md, section 5.
public struct Report: Hashable, Sendable {
    /// The identity: reports with an equal one are the same.
    public let identity: ReportIdentity

    /// The body as UTF-8 JSON.
    public let body: [UInt8]

    /// The version of the list that it names; `nil` without a list.
    public var listVersion: Int64? { self.list?.version }

    /// The place of that list. Of identical reports the one of the newest list is kept.
    let list: ListOrder?

    /// The addresses; it is sent to each. Never empty, and each is an `https` URL, or one of this machine.
    public let addresses: [String]

    /// The media type of ``body``.
    public static let contentType = "application/json"

    init?(_ identity: ReportIdentity, of list: ReportedList?, to addresses: [String], body: [UInt8]) {
        // Those of rules made in code were not checked before.
        let allowed = addresses.filter { ReportAddress.isAllowed($0) }
        guard !allowed.isEmpty else { return nil }
        self.identity = identity
        self.list = list?.order
        self.addresses = Array(allowed.prefix(ReportLimits.addresses))
        self.body = body
    }

    /// The body without certificates and without an envelope, for a full queue.
    public var briefBody: [UInt8] { Self.brief(self.body) }

    /// A body without certificates and without an envelope; unchanged where it is no object.
    static func brief(_ body: [UInt8]) -> [UInt8] {
        guard let value = try? JSONValue(strict: body), case .object(let members) = value else { return body }
        let kept = members.map { member in
            switch (member.name, member.value) {
            case (Self.servedChain, _), (Self.validatedChain, _): JSONValue.Member(member.name, .array([]))
            case (Self.ours, .object(let ours)):
                JSONValue.Member(member.name, .object(ours.filter { $0.name != Self.envelope }))
            default: member
            }
        }
        return JSONValue.object(kept).bytes
    }

    private static let servedChain = "served-certificate-chain"
    private static let validatedChain = "validated-certificate-chain"
    private static let ours = "tumbler"
    private static let envelope = "envelope"
}

extension Report {
    /// The report of a decision: the members of RFC 7469, section 3, TrustKit's, and our own.
    ///
    /// - Parameters:
    ///   - decision: The decision.
    ///   - port: The port of the connection.
    ///   - served: The presented certificates in DER, leaf first. The decision has the validated ones.
    ///   - isWebView: Whether a web view asked. A page chooses the hosts of a web view, so failures of hosts that no
    ///     entry covers are private and never reported.
    ///   - list: The list in force; `nil` for rules made in code.
    ///   - app: The app's members of the report.
    ///   - signals: The signals that `RuntimeIntegrity` noticed.
    ///   - time: The time of the failure.
    /// - Returns: `nil` when there is nothing to report, or no address that may be used.
    public init?(
        _ decision: PinningDecision, port: Int, served: [[UInt8]], isWebView: Bool, list: ReportedList?,
        app: ReportedApp, signals: [String] = [], at time: Timestamp
    ) {
        guard let reason = decision.reportedReason, decision.entry != nil || !isWebView else { return nil }
        let path = decision.path.certificates
        let members = Self.members(decision, reason, port: port, list: list, app: app, at: time)
        let ours = JSONValue.Member(
            Self.ours,
            .object(
                (list?.members ?? []) + [
                    .init("reason", .string(reason.description)),
                    .init(
                        "signals",
                        .array(
                            signals.prefix(ReportLimits.signals).map {
                                .string(PrintableText.line($0, maximumLength: ReportLimits.textLength))
                            })),
                ]))
        let chains = [
            JSONValue.Member(Self.servedChain, Self.chain(served)), .init(Self.validatedChain, Self.chain(path)),
        ]
        self.init(
            ReportIdentity(decision, reason, port: port, chain: path.isEmpty ? served : path),
            of: list, to: decision.entry?.reportTo ?? list?.reportTo ?? [],
            body: JSONValue.object(members + chains + [ours]).bytes)
    }

    /// The members without the chains and without our own.
    private static func members(
        _ decision: PinningDecision, _ reason: PinningDecision.Reason, port: Int, list: ReportedList?,
        app: ReportedApp, at time: Timestamp
    ) -> [JSONValue.Member] {
        let entry = decision.entry
        var members: [JSONValue.Member] = [
            .init("date-time", .string(time.description)), .init("hostname", .string(decision.host)),
            .init("port", .integer(Int64(port))),
            // RFC 7469 has no failures without a noted host.
            .init("noted-hostname", .string(entry?.domain.description ?? decision.host)),
            .init("include-subdomains", .bool(entry?.includeSubdomains ?? false)),
            .init("enforce-pinning", .bool(decision.isEnforced)),
        ]
        if let end = entry?.expiresAt ?? list?.expiresAt {
            members.append(.init("effective-expiration-date", .string(end.description)))
        }
        // RFC 7469 has no form for the pin of a certificate, and a collector would take it for that of a key.
        let pins = (entry?.pins ?? []).filter { $0.pin.kind == .publicKey }.map { known in
            JSONValue.string("pin-sha256=\"\(Base64.encode(known.pin.digest))\"")
        }
        members.append(.init("known-pins", .array(pins)))
        members.append(.init("validation-result", .integer(Int64(reason.validationResult))))
        return members + app.members
    }

    /// A chain as PEM within the limits of a report; the leaf first.
    private static func chain(_ certificates: [[UInt8]]) -> JSONValue {
        var left = ReportLimits.chainBytes
        var texts: [JSONValue] = []
        for certificate in certificates.prefix(ReportLimits.certificates) {
            guard certificate.count <= left else { break }
            left -= certificate.count
            texts.append(.string(PEMBlock(label: PEMBlock.certificateLabel, bytes: certificate).text))
        }
        return .array(texts)
    }
}

extension Report {
    /// The report of a list incident: a root or a list from outside was refused.
    ///
    /// - Parameters:
    ///   - refusal: The refusal.
    ///   - envelope: The refused envelope. It is sent only when its signatures are valid: then it is evidence.
    ///   - list: The list in force.
    ///   - app: The app's members of the report.
    ///   - time: The time of the failure.
    /// - Returns: `nil` when the list names no address for reports.
    public init?(
        _ refusal: MetadataError, of envelope: [UInt8], list: ReportedList, app: ReportedApp, at time: Timestamp
    ) {
        self.init(
            incident: refusal.code.description, envelope: refusal.isSigned ? envelope : nil, list: list, app: app,
            at: time)
    }

    /// The report that the list in force is stale.
    ///
    /// - Returns: `nil` when the list names no address for reports.
    public init?(stale list: ReportedList, app: ReportedApp, at time: Timestamp) {
        self.init(incident: "stale", envelope: nil, list: list, app: app, at: time)
    }

    private init?(incident reason: String, envelope: [UInt8]?, list: ReportedList, app: ReportedApp, at time: Timestamp)
    {
        let evidence = envelope.map { [JSONValue.Member(Self.envelope, .string(Base64.encode($0)))] } ?? []
        let members =
            [JSONValue.Member("date-time", .string(time.description))] + app.members + [
                .init(Self.ours, .object(list.members + [.init("reason", .string(reason))] + evidence))
            ]
        self.init(
            ReportIdentity(incident: reason, version: list.version), of: list, to: list.reportTo,
            body: JSONValue.object(members).bytes)
    }
}

extension PinningDecision {
    /// The reason in a report of this decision; `nil` when there is nothing to report.
    ///
    /// A refusal is always reported. An allowed connection is reported when an entry or the list asks for it: a
    /// mismatch that is not enforced, a host that no entry covers, an entry that has expired, a denial or a revocation
    /// that is only reported, a policy of Certificate Transparency that is not satisfied.
    public var reportedReason: Reason? {
        if self.verdict == .block { return self.reason }
        if self.denied != nil { return .deniedKey }
        if self.revoked != nil { return .revoked }
        switch self.reason {
        case .noMatchingPin, .unlistedReported, .domainExpired, .cleartext, .otherHostConnection, .transparency:
            return self.reason
        default: return nil
        }
    }
}

extension PinningDecision.Reason {
    /// The reason as one of TrustKit's integers (formats.md, section 5).
    ///
    /// A host that is only reported as unlisted has the number that it has where such hosts are denied; after an entry's
    /// end nothing failed: the entry had only expired.
    public var validationResult: Int {
        switch self {
        case .noMatchingPin, .otherHostConnection, .deniedKey, .deniedUndecidable, .revoked, .unlistedDenied,
            .unlistedReported, .transparency:
            1
        case .chainInvalid, .noCertificates, .overBudget, .revocationUnknown: 2
        case .hostInvalid, .cleartext, .malformed: 3
        // The chain was valid; the process showed signs of tampering.
        case .pinMatch, .notPinned, .suspended, .domainExpired, .tampering: 0
        // A transport's own reason: the chain was not validated.
        default: 2
        }
    }
}
