// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The evaluation as JSON (formats.md, section 4.2). `log`, `operator` and `timestamp` are absent where they are not known.
extension TransparencyEvaluation: Encodable {
    enum CodingKeys: String, CodingKey {
        case policy
        case isSatisfied = "satisfied"
        case detail
        case timestamps = "scts"
    }

    /// Writes the members of formats.md, section 4.2.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.policy, forKey: .policy)
        try container.encode(self.isSatisfied, forKey: .isSatisfied)
        try container.encode(self.detail, forKey: .detail)
        try container.encode(self.timestamps, forKey: .timestamps)
    }
}

extension TransparencyEvaluation.EvaluatedTimestamp: Encodable {
    enum CodingKeys: String, CodingKey {
        case log
        case operatorName = "operator"
        case timestamp, status
    }

    /// Writes the members of formats.md, section 4.2.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(self.log, forKey: .log)
        try container.encodeIfPresent(self.operatorName, forKey: .operatorName)
        try container.encodeIfPresent(self.timestamp?.description, forKey: .timestamp)
        try container.encode(self.status.description, forKey: .status)
    }
}

extension TransparencyEvaluation {
    /// The evaluation for people: a line for each timestamp, then the policy's verdict.
    public var lines: [String] {
        self.timestamps.map { timestamp in
            let parts = [
                timestamp.status.description, timestamp.timestamp?.description, timestamp.log,
                timestamp.operatorName.map { PrintableText.line($0) },
            ]
            return parts.compactMap { $0 }.joined(separator: "  ")
        } + ["\(self.policy): \(self.isSatisfied ? "satisfied" : "not satisfied"): \(self.detail)"]
    }
}
