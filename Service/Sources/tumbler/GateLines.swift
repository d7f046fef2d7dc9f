// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinRotation

/// The answer of the gate, for people.
enum GateLines {
    /// The lines; the first one says it.
    static func lines(_ answer: GateAnswer) -> [String] {
        var lines = ["\(answer.host): \(answer.verdict.rawValue). \(answer.reason)"]
        if let noted = answer.notedHostname { lines.append("  entry: \(noted)") }
        if let matched = answer.matched {
            lines.append("  matched: \(matched.pin), position \(matched.position.rawValue)")
        }
        let refusing = answer.refusing
        if let share = refusing.share {
            lines.append(
                "  refusing: \(Share.percent(share)) of \(refusing.requests) requests in \(refusing.hours)h")
        } else {
            lines.append("  refusing: not measured")
        }
        return lines
    }
}
