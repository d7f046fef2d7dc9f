// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The filter for groups of failures: the query of an address, which is untrusted.
public struct FailureFilter: Hashable, Sendable {
    /// The span of time back from now.
    package enum Span: String, CaseIterable, Sendable {
        /// The last hour.
        case hour
        /// The last day.
        case day
        /// The last week.
        case week
        /// All reports that are kept.
        case all

        /// In words.
        package var label: String {
            switch self {
            case .hour: "last hour"
            case .day: "last 24 hours"
            case .week: "last 7 days"
            case .all: "everything kept"
            }
        }

        /// In seconds; `nil` for everything.
        package var seconds: Int64? {
            switch self {
            case .hour: 3_600
            case .day: 86_400
            case .week: 604_800
            case .all: nil
            }
        }
    }

    /// The order of the groups.
    package enum Order: String, CaseIterable, Sendable {
        /// Most reports first.
        case reports
        /// Most networks first.
        case networks
        /// The newest report first.
        case last
        /// The newest group first.
        case first
        /// Hosts by their names.
        case host
    }

    /// A noted host; empty for all.
    package var host = ""
    /// The code of a reason; empty for all.
    package var reason = ""
    /// A version of the app; empty for all.
    package var version = ""
    /// A cause; `nil` for all.
    package var cause: FailureCause?
    /// The span of time back from now.
    package var span = Span.week
    /// The order of the groups.
    package var order = Order.reports

    /// The maximum number of scalars of a value: a host has at most 253.
    package static let maximumValueLength = 256

    /// No filter.
    package init() {}

    /// Reads the members of a query, decoded; what it does not know counts as absent, and values are cut.
    public init(query: [(name: String, value: String)]) {
        for (name, value) in query.prefix(32) {
            let value = String(String.UnicodeScalarView(value.unicodeScalars.prefix(Self.maximumValueLength)))
            switch name {
            case "host": self.host = value
            case "reason": self.reason = value
            case "version": self.version = value
            case "cause": self.cause = FailureCause(rawValue: value)
            case "span": self.span = Span(rawValue: value) ?? .week
            case "order": self.order = Order(rawValue: value) ?? .reports
            default: break
            }
        }
    }

    /// The members of an address that asks for this.
    public var query: [(name: String, value: String)] {
        [
            ("host", self.host), ("reason", self.reason), ("version", self.version),
            ("cause", self.cause?.rawValue ?? ""), ("span", self.span == .week ? "" : self.span.rawValue),
            ("order", self.order == .reports ? "" : self.order.rawValue),
        ]
    }

    /// Whether anything but the span and the order is asked for.
    package var isNarrow: Bool {
        !self.host.isEmpty || !self.reason.isEmpty || !self.version.isEmpty || self.cause != nil
    }
}
