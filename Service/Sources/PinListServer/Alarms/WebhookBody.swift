// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import CertificatePinning
internal import NIOCore
internal import NIOHTTP1
internal import PinListMetadata
internal import PinReportAnalysis

/// The body that each kind of webhook expects.
enum WebhookBody {
    /// The body of a notification.
    static func bytes(_ event: AlarmEvent, for target: AlertTarget) -> [UInt8] {
        switch target.kind {
        case .webhook: event.json.bytes
        case .slack: JSONValue.object([.init("text", .string(Self.slackText(event)))]).bytes
        case .pagerduty: Self.pagerDuty(event, target.routingKey).bytes
        }
    }

    /// One message; `&`, `<` and `>` begin what Slack would read as markup, links and mentions.
    private static func slackText(_ event: AlarmEvent) -> String {
        let sign =
            switch event.phase {
            case .recovered: "Recovered"
            case .test: "Test"
            case .acknowledged: Self.acknowledged(event)
            case .firing:
                event.severity == Alarm.Severity.critical.rawValue ? "CRITICAL" : event.severity.capitalizedFirst
            }
        // Of one alarm the detail says it all.
        let lines = event.count > 1 ? event.alarms.map { "• \($0.detail)\n" }.joined() : ""
        let isLasting = event.phase == .firing || event.phase == .acknowledged
        let action = isLasting ? event.action.map { "What to do: \($0)\n" } ?? "" : ""
        return Self.escaped(
            "\(sign): \(event.detail)\n\(lines)\(action)\(event.key), since \(event.since). Audit log: \(event.auditHead)"
        )
    }

    /// The line that says that it is acknowledged, and by which tokens.
    private static func acknowledged(_ event: AlarmEvent) -> String {
        let names = Set(event.alarms.compactMap(\.acknowledgedBy)).sorted()
        return names.isEmpty ? "Acknowledged" : "Acknowledged by " + names.joined(separator: ", ")
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// At most 255 characters, or PagerDuty refuses the event: a host and the name of a list can be longer.
    private static func deduplicationKey(_ key: String) -> String {
        let whole = "tumbler:" + key
        return whole.utf8.count <= 255 ? whole : "tumbler:" + Envelope.digest(of: Array(key.utf8))
    }

    private static func action(_ phase: AlarmEvent.Phase) -> String {
        switch phase {
        case .firing, .test: "trigger"
        case .acknowledged: "acknowledge"
        case .recovered: "resolve"
        }
    }

    /// PagerDuty's Events API, version 2: the same key again is the same incident.
    private static func pagerDuty(_ event: AlarmEvent, _ key: String) -> JSONValue {
        let severity =
            switch event.severity {
            case Alarm.Severity.critical.rawValue: "critical"
            case Alarm.Severity.warning.rawValue: "warning"
            default: "info"
            }
        return .object([
            .init("routing_key", .string(key)),
            .init("event_action", .string(Self.action(event.phase))),
            .init("dedup_key", .string(Self.deduplicationKey(event.key))),
            .init(
                "payload",
                .object([
                    // At most 1,024 characters.
                    .init("summary", .string(PrintableText.line(event.detail, maximumLength: 1_000))),
                    .init("source", .string("tumbler")), .init("severity", .string(severity)),
                    .init("timestamp", .string(event.time.description)), .init("class", .string(event.kind)),
                    .init("custom_details", event.json),
                ])),
        ])
    }
}

extension String {
    /// With its first letter in upper case.
    fileprivate var capitalizedFirst: String { self.prefix(1).uppercased() + self.dropFirst() }
}

/// Sends a notification. A protocol, so that tests see what would go out.
protocol WebhookSender: Sendable {
    /// Posts JSON to an address.
    ///
    /// - Returns: The status of the answer.
    /// - Throws: What the network says.
    func post(_ body: [UInt8], to address: String) async throws -> Int
}

/// Over HTTPS, with the platform's validation.
struct HTTPWebhookSender: WebhookSender {
    /// Addresses are secrets: where one sends us on is not followed. With HTTP/2 a status that is no number of three digits
    /// would end the service.
    static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.httpVersion = .http1Only
        return configuration
    }

    /// Made with ``configuration``.
    let client: HTTPClient
    /// The time that a webhook may take.
    var timeout: TimeAmount = .seconds(15)

    func post(_ body: [UInt8], to address: String) async throws -> Int {
        var request = HTTPClientRequest(url: address)
        request.method = .POST
        request.headers = ["Content-Type": "application/json", "User-Agent": "tumbler"]
        request.body = .bytes(ByteBuffer(bytes: body))
        let response = try await self.client.execute(request, timeout: self.timeout)
        return Int(clamping: response.status.code)
    }
}
