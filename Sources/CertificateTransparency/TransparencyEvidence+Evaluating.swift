// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

extension TransparencyEvidence {
    /// The maximum lead of a timestamp over the time of a decision, in seconds: clocks differ by minutes.
    static let maximumLead: Int64 = 300

    /// Evaluates the evidence: the second of two steps, without a signature.
    ///
    /// - Parameters:
    ///   - policy: The policy.
    ///   - time: The time of the decision.
    /// - Returns: Whether the policy is satisfied, why, and the status of each timestamp.
    public func evaluation(under policy: TransparencyPolicy, at time: Timestamp) -> TransparencyEvaluation {
        var evaluated: [TransparencyEvaluation.EvaluatedTimestamp] = []
        var valid: [(timestamp: SignedCertificateTimestamp, log: TransparencyLog)] = []
        for finding in self.findings {
            switch finding {
            case .malformed:
                evaluated.append(.init(log: nil, operatorName: nil, timestamp: nil, status: .malformed))
            case .refused(let timestamp, let status, let operatorName):
                evaluated.append(.init(timestamp, operatorName, status))
            case .verified(let timestamp, let log):
                let status = self.status(of: timestamp, log, at: time)
                evaluated.append(.init(timestamp, log.operatorName(at: timestamp.time), status))
                if status == .valid { valid.append((timestamp, log)) }
            }
        }
        let objections: [String]
        let counted: Tally
        if let defect {
            counted = Tally()
            objections = [defect.reason]
        } else {
            counted = Tally(valid, at: time)
            objections = policy.objections(to: counted, lifetime: self.lifetime)
        }
        return TransparencyEvaluation(
            policy: policy.name, isSatisfied: objections.isEmpty,
            detail: objections.isEmpty ? counted.summary : objections.joined(separator: "; "), timestamps: evaluated)
    }

    private func status(
        of timestamp: SignedCertificateTimestamp, _ log: TransparencyLog, at time: Timestamp
    ) -> TransparencyEvaluation.Status {
        let (limit, isBeyond) = time.secondsSince1970.addingReportingOverflow(Self.maximumLead)
        if !isBeyond, timestamp.isLater(than: Timestamp(secondsSince1970: limit)) { return .inTheFuture }
        if let interval = log.interval, !interval.contains(self.notAfter) { return .outsideInterval }
        if log.state == .pending || log.state == .rejected { return .logRejected }
        return .valid
    }
}

/// The logs that count, once each.
struct Tally {
    /// The number of logs of each operator, by the operator's name when it signed.
    private var logsOfOperators: [String: Int] = [:]

    /// The number of them that are accepted at the time of the check.
    private(set) var accepted = 0

    /// The number of them that are not tiled logs.
    private(set) var rfc6962 = 0

    /// An empty tally.
    init() {}

    /// Counts valid timestamps.
    ///
    /// A log that is retired counts when the earliest of them is from before its retirement: a log that retires later
    /// could date its own timestamps back, and other logs could not.
    init(_ valid: [(timestamp: SignedCertificateTimestamp, log: TransparencyLog)], at time: Timestamp) {
        guard let earliest = valid.map(\.timestamp.time).min() else { return }
        var seen: Set<LogID> = []
        for (timestamp, log) in valid {
            let isAccepted = log.isAccepted(at: time)
            if case .retired(let since) = log.state, !isAccepted, earliest >= since { continue }
            guard seen.insert(log.id).inserted else { continue }
            self.logsOfOperators[log.operatorName(at: timestamp.time), default: 0] += 1
            if isAccepted { self.accepted += 1 }
            if log.kind == .rfc6962 { self.rfc6962 += 1 }
        }
    }

    /// The number of operators.
    var operators: Int { self.logsOfOperators.count }

    /// The number of logs that count when those of an operator count up to a limit.
    func logs(ofAnOperator limit: Int) -> Int { self.logsOfOperators.values.reduce(0) { $0 + min($1, limit) } }

    /// The tally in words.
    var summary: String {
        "\(Self.amount(self.logs(ofAnOperator: .max), "log")) of \(Self.amount(self.operators, "operator")) count"
    }

    /// A number with its noun.
    static func amount(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }
}

extension TransparencyPolicy {
    /// The unmet demands of the policy; empty when it is satisfied.
    ///
    /// - Parameters:
    ///   - tally: The logs that count.
    ///   - lifetime: The length of the certificate's validity in seconds.
    func objections(to tally: Tally, lifetime: Int64) -> [String] {
        var objections: [String] = []
        let days = lifetime / Self.day + (lifetime % Self.day > 0 ? 1 : 0)
        if let maximumDays, days > maximumDays {
            objections.append("the certificate is valid for \(days) days, over \(maximumDays)")
        }
        let demand = lifetime <= Self.shortLifetime ? self.short : self.long
        let counted = tally.logs(ofAnOperator: demand.logsOfAnOperator)
        if counted < demand.logs {
            let limit =
                demand.logsOfAnOperator == .max
                ? "" : ", at most \(demand.logsOfAnOperator) of an operator"
            objections.append(
                "\(Tally.amount(counted, "log")) of the \(demand.logs) that \(days) days ask for\(limit)")
        }
        if tally.operators < self.operators {
            objections.append(
                "\(Tally.amount(tally.operators, "operator")) of the \(self.operators) that are asked for")
        }
        if tally.accepted < 1 { objections.append("none of a log that is accepted now") }
        if self.asksForRFC6962, tally.rfc6962 < 1 { objections.append("none of an RFC 6962 log") }
        return objections
    }
}

extension TransparencyEvaluation.EvaluatedTimestamp {
    /// The status of a timestamp that can be read.
    fileprivate init(
        _ timestamp: SignedCertificateTimestamp, _ operatorName: String?, _ status: TransparencyEvaluation.Status
    ) {
        self.init(
            log: timestamp.log.description, operatorName: operatorName, timestamp: timestamp.time, status: status)
    }
}
