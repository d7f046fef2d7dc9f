// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import PinListMetadata

extension Report {
    /// The report of a decision: the members of RFC 7469, section 3, TrustKit's, and our own.
    ///
    /// - Parameters:
    ///   - decision: What was decided.
    ///   - port: The port of the connection.
    ///   - served: What the server presented, as DER, leaf first; not what was validated, which the decision has.
    ///   - isWebView: Whether a web view asked. It visits hosts that a page chooses: failures of hosts that no entry
    ///     covers are nobody's business then, and are never reported.
    ///   - list: The list in force; `nil` for rules made in code.
    ///   - app: What the report says of the app.
    ///   - signals: What `RuntimeIntegrity` noticed.
    ///   - time: When it happened.
    /// - Returns: `nil` when there is nothing to report, or nowhere to report it to.
    public init?(
        _ decision: PinningDecision, port: Int, served: [[UInt8]], isWebView: Bool, list: ReportedList?,
        app: ReportedApp, signals: [String] = [], at time: Timestamp
    ) {
        guard let reason = decision.reportedReason, decision.entry != nil || !isWebView else { return nil }
        let path = decision.path.certificates
        let members = Self.members(decision, reason, port: port, list: list, app: app, at: time)
        let ours = JSONValue.Member(
            "tumbler",
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
        func body(_ served: [[UInt8]], _ validated: [[UInt8]]) -> [UInt8] {
            JSONValue.object(
                members + [
                    .init("served-certificate-chain", Self.chain(served)),
                    .init("validated-certificate-chain", Self.chain(validated)), ours,
                ]
            ).bytes
        }
        self.init(
            ReportIdentity(decision, reason, port: port, chain: path.isEmpty ? served : path),
            listVersion: list?.version,
            to: decision.entry?.reportTo ?? list?.reportTo ?? [], body: body(served, path), brief: body([], []))
    }

    /// All members but the chains and our own.
    private static func members(
        _ decision: PinningDecision, _ reason: PinningDecision.Reason, port: Int, list: ReportedList?,
        app: ReportedApp, at time: Timestamp
    ) -> [JSONValue.Member] {
        let entry = decision.entry
        var members: [JSONValue.Member] = [
            .init("date-time", .string(time.description)), .init("hostname", .string(decision.host)),
            .init("port", .integer(Int64(port))),
            // RFC 7469 knows no failure without a noted host.
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

    /// A chain as PEM, as much of it as a report takes; the leaf first.
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
