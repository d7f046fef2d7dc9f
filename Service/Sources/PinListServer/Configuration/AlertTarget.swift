// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinListMetadata

/// Where alarms are told, by a webhook.
public struct AlertTarget: Hashable, Sendable {
    /// What a webhook expects.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Our own JSON.
        case webhook
        /// Slack's incoming webhooks.
        case slack
        /// PagerDuty's Events API, version 2.
        case pagerduty
    }

    /// What it expects.
    public let kind: Kind
    /// Names it in the log and on the dashboard; no secret.
    public let name: String
    /// Where it is. A secret: whoever knows it can write there.
    public let address: String
    /// PagerDuty's routing key. A secret.
    public let routingKey: String

    /// Whether notifications may be posted to an address: `https`, or `http` to a loopback address. Over plain `http`
    /// whoever is on the way reads which hosts fail, and can take the address, which is a secret.
    public static func isAllowed(address: String) -> Bool { ReportAddress.isAllowed(address) }

    /// States a target.
    public init(kind: Kind, name: String, address: String, routingKey: String = "") {
        self.kind = kind
        self.name = name
        self.address = address
        self.routingKey = routingKey
    }
}
