// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CertificateTransparency
import CommandLineInterface
import PinFailureReports
import PinListMetadata

/// Decisions, who they are for, and what is reported of them.
extension VectorQuestion {
    /// The decision on a path, or on what never had one.
    func decide() throws -> JSONValue { try Self.withoutWords(try self.decided().decision) }

    /// The report of a decision: where it goes, and its members.
    func report() throws -> JSONValue { Self.shown(try self.failureReport()) }

    /// The report of a list incident.
    func incident() throws -> JSONValue {
        let list = try self.reportedList(try PinList(payload: Array(try self.text("list").utf8)))
        let code = try self.text("code")
        let time = try self.time("at")
        if code == "stale" { return Self.shown(Report(stale: list, app: try self.reportedApp(), at: time)) }
        guard let known = Self.codes.first(where: { $0.description == code }) else {
            throw Self.missing("code")
        }
        var refusal = MetadataError(.pins, known, "a vector")
        refusal.isSigned = self.value("envelope") != nil
        let envelope = refusal.isSigned ? try self.base64("envelope") : []
        return Self.shown(Report(refusal, of: envelope, list: list, app: try self.reportedApp(), at: time))
    }

    /// The codes of formats.md, section 3.3.
    private static let codes: [MetadataError.Code] = [
        .tooLarge, .malformed, .wrongType, .unsigned, .thresholdNotMet, .wrongName, .rootGap, .rollback, .equivocation,
        .issuedInFuture, .expired,
    ]

    /// Whether two failures are identical.
    func identical() throws -> JSONValue {
        let ids = try self.objects("failures").map { try $0.failureReport()?.identity.id }
        guard ids.count == 2, let first = ids[0], let second = ids[1] else { throw Self.missing("failures") }
        return .members(["identical": .bool(first == second)])
    }

    /// The place of an installation among a hundred.
    func place() throws -> JSONValue {
        guard let installation = try self.installation() else { throw Self.missing("installation") }
        let place = installation.place(in: try self.text("name"), try HostName(try self.text("domain")))
        return .members(["place": .integer(Int64(clamping: place))])
    }

    /// Whether an installation enforces an entry: by a list that has it alone.
    func enforces() throws -> JSONValue {
        let list = try self.listOfOne(rollout: Int(clamping: try self.integer("rollout")), perMillion: 1_000_000)
        let policy = try list.policy(for: try self.installation(), isStale: false)
        let entry = policy.entry(for: try HostName(try self.text("domain")))
        return .members(["enforces": .bool(entry?.isEnforced ?? false)])
    }

    /// Whether an installation reports the failures of an entry, or of hosts that none covers, on a day.
    func sampled() throws -> JSONValue {
        let list = try self.listOfOne(rollout: 100, perMillion: try self.integer("perMillion"))
        let domain = try self.optionalText("domain").map { try HostName($0) }
        let sampling = ReportSampling(list, for: try self.installation())
        return .members(["reports": .bool(sampling.includes(domain, at: try self.time("at")))])
    }

    private func listOfOne(rollout: Int, perMillion: Int64) throws -> PinList {
        let domain = try HostName(try self.optionalText("domain") ?? "nothing.example")
        let pin = KnownPin(Pin(kind: .publicKey, hashing: [UInt8]()))
        return PinList(
            name: try self.text("name"), version: 1, issuedAt: Timestamp(secondsSince1970: 0),
            expiresAt: Timestamp(secondsSince1970: 1), reportPerMillion: perMillion,
            domains: [PinList.Domain(PinnedDomain(domain, pins: [pin]), rollout: rollout)])
    }

    /// The decision on a question, and the list that it was decided by.
    private func decided() throws -> (decision: PinningDecision, list: PinList) {
        let list = try PinList(payload: Array(try self.text("list").utf8))
        // The list is the current one in force, so the time is no earlier than its own (section 3.3, step 1).
        let time = max(try self.time("at"), list.issuedAt)
        let whenStale = try self.optionalText("whenStale").flatMap { PinList.WhenStale(rawValue: $0) }
        let policy = try list.policy(
            for: try self.installation(), isStale: list.expiresAt <= time, whenStale: whenStale ?? .enforce)
        let host = try self.text("host")
        let path = try self.optionalChain("path").map { ValidatedPath(uncheckedValidatedPath: $0) }
        switch (try self.optionalText("transport"), path) {
        case (nil, let path?):
            let decision = try self.evaluated(policy.validate(path, for: host, at: time), at: time)
            // As the client does it (Pinning+Deciding): pins matched, and where the entry enforces it is refused.
            if try self.flag("tampering"), decision.verdict == .allow,
                policy.cleartext(to: host, at: time).verdict == .block
            {
                return (policy.refusal(of: host, .tampering, path: path), list)
            }
            return (decision, list)
        case ("cleartext"?, _): return (policy.cleartext(to: host, at: time), list)
        case ("other-host-connection"?, let path):
            let decision = policy.validateResponse(for: host, over: path, evaluatedFor: nil, at: time)
            return (try self.evaluated(decision, at: time), list)
        case (let reason?, nil):
            let known: [PinningDecision.Reason] = [
                .chainInvalid, .noCertificates, .overBudget, .revoked, .revocationUnknown,
            ]
            guard let reason = known.first(where: { $0.description == reason }) else { throw Self.missing("transport") }
            return (policy.refusal(of: host, reason), list)
        default: throw Self.missing("path")
        }
    }

    /// A decision with what its entry asks of Certificate Transparency, where there is a log list that is not stale.
    private func evaluated(_ decision: PinningDecision, at time: Timestamp) throws -> PinningDecision {
        guard let text = try self.optionalText("logs") else { return decision }
        let logs = try LogList(Array(text.utf8))
        let path = decision.path
        return decision.evaluated { policy in
            logs.isStale(at: time)
                ? nil
                : TransparencyEvidence(of: path, logs: logs).evaluation(under: TransparencyPolicy(policy), at: time)
        }
    }

    private func failureReport() throws -> Report? {
        let (decision, list) = try self.decided()
        return Report(
            decision, port: Int(clamping: try self.integer("port")), served: try self.chain("served"),
            isWebView: try self.flag("webView"), list: try self.reportedList(list), app: try self.reportedApp(),
            signals: try self.texts("signals"), at: try self.time("at"))
    }

    private func reportedList(_ list: PinList) throws -> ReportedList {
        ReportedList(
            name: list.name, version: list.version, digest: try self.text("digest"), expiresAt: list.expiresAt,
            reportTo: list.reportTo)
    }

    private func reportedApp() throws -> ReportedApp {
        let app = try self.object("app")
        return ReportedApp(
            bundleID: try app.text("bundleID"), version: try app.text("version"), platform: try app.text("platform"),
            platformVersion: try app.text("platformVersion"), vendorID: try app.optionalText("vendorID"))
    }

    private static func shown(_ report: Report?) -> JSONValue {
        guard let report, let body = try? JSONValue(strict: report.body) else { return .members(["report": .null]) }
        let addresses = report.addresses.map { JSONValue.string($0) }
        return .members(["report": .members(["body": body, "to": .array(addresses)])])
    }

    /// A value as its documented JSON, without `detail` anywhere: that is for people, and each program has its own words.
    static func withoutWords(_ value: some Encodable) throws -> JSONValue {
        try JSONValue(strict: Array(try JSONOutput.line(value))).withoutWords
    }
}

extension JSONValue {
    /// The value without its members `detail`, and without those of its members.
    fileprivate var withoutWords: JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { $0.name != "detail" }.map { Member($0.name, $0.value.withoutWords) })
    }
}
