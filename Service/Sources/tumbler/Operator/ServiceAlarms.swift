// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation
import NIOHTTP1
import PinListRepository

/// The alarms that fire at a service, and the silences there (formats.md, section 7).
struct ServiceAlarms: Decodable, Sendable {
    /// The severities of alarms, in rising order.
    static let severities = ["notice", "warning", "critical"]

    /// An alarm that fires.
    struct Firing: Decodable, Sendable {
        /// Names it, for acknowledging and silencing.
        var key: String
        /// The severity.
        var severity: String
        /// The time since which it fires, RFC 3339.
        var since: String
        /// The problem, in a sentence.
        var detail: String
        /// The id of the token of the person who has seen it.
        var acknowledgedBy: String?
        /// The time until which it is silenced, RFC 3339.
        var silencedUntil: String?
    }

    /// A silence.
    struct Silence: Decodable, Sendable {
        /// The key of an alarm, or a kind.
        var what: String
        /// The most urgent that is silenced.
        var upTo: String
        /// The end of the silence, RFC 3339.
        var until: String
        /// The id of the token that made it.
        var by: String
        /// The reason.
        var because: String
    }

    /// The alarms that fire.
    var alarms: [Firing]
    /// The silences that are not over.
    var silences: [Silence]

    /// The alarms as lines for people.
    var lines: [String] {
        let firing = self.alarms.map { alarm in
            let seen = alarm.acknowledgedBy.map { ", acknowledged by \(Self.text($0))" } ?? ""
            let silent = alarm.silencedUntil.map { ", silenced until \(Self.text($0))" } ?? ""
            return "\(Self.text(alarm.severity)): \(Self.text(alarm.key)): \(Self.text(alarm.detail)), "
                + "since \(Self.text(alarm.since))\(seen)\(silent)"
        }
        let silenced = self.silences.map { silence in
            "silenced: \(Self.text(silence.what)) up to \(Self.text(silence.upTo)) until \(Self.text(silence.until)), "
                + "by \(Self.text(silence.by)): \(Self.text(silence.because))"
        }
        return (firing.isEmpty ? ["no alarm fires"] : firing) + silenced
    }

    /// Text of a service may come from any sender of reports.
    private static func text(_ text: String) -> String { PrintableText.line(text, maximumLength: 400) }
}

extension ServiceClient {
    /// The maximum number of bytes of the alarms: those of some thousand hosts.
    private static let alarmsBytes = 8 << 20

    /// The alarms that fire and the silences, as JSON and as values.
    ///
    /// - Throws: ``CommandError`` when the service cannot be asked, or answers something else.
    func alarms() async throws(CommandError) -> (json: [UInt8], alarms: ServiceAlarms) {
        let answer = try await self.answer(
            Request(method: .GET, url: "\(self.address)/v1/alarms", body: nil, maximumBytes: Self.alarmsBytes))
        guard answer.status == 200 else {
            let failure = answer.failure("no alarms")
            // A refused read is no decision.
            throw CommandError(.undecided, failure.message, hint: failure.hint)
        }
        guard let alarms = try? JSONDecoder().decode(ServiceAlarms.self, from: Data(answer.body)) else {
            throw CommandError(
                .undecided, "\(self.address) answers 200, but not with alarms",
                hint: "is this the address of a Tumbler service?")
        }
        return (answer.body, alarms)
    }

    /// Changes something of an alarm.
    ///
    /// - Parameters:
    ///   - deed: `acknowledge`, `silence` or `unsilence`.
    ///   - body: The request as JSON.
    /// - Throws: ``CommandError`` when the service does not do it.
    func handleAlarm(_ deed: String, _ body: [UInt8]) async throws(CommandError) {
        let answer = try await self.answer(
            Request(
                method: .POST, url: "\(self.address)/v1/alarms/\(deed)", body: body,
                maximumBytes: Self.confirmationBytes))
        if answer.status == 404, answer.isProblem {
            throw CommandError(
                .doesNotHold, "no such alarm fires, or it is not silenced", hint: "tumbler alarms lists them")
        }
        guard answer.status == 204 else { throw answer.failure(ofChange: "nothing was changed") }
    }
}
