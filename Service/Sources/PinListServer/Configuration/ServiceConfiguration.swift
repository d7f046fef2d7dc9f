// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import PinListStore
package import PinReportAnalysis

/// The configuration of the service when it starts (formats.md, section 10). Plain values: the caller reads the files.
package struct ServiceConfiguration: Sendable {
    /// Certificates of the service's own TLS.
    package struct Certificates: Hashable, Sendable {
        /// The path of the chain, PEM, leaf first.
        package var certificate: String
        /// The path of the private key, PEM.
        package var key: String

        /// Names the files.
        package init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    /// The retention of reports, the audit log and evidence.
    package struct Retention: Hashable, Sendable {
        /// Reports, in days.
        package var days: Int64
        /// Reports, in megabytes (10^6 bytes) of the database.
        package var megabytes: Int64
        /// The audit log, by whole months, and evidence, in days: ``minimumAuditDays`` or more.
        package var auditDays: Int64

        /// The period that alarms and pages look back at: no setting removes entries or evidence that are younger.
        package static let minimumAuditDays: Int64 = 90

        /// States the limits: of the two of reports what comes first holds.
        package init(days: Int64 = 90, megabytes: Int64 = 2_048, auditDays: Int64 = 400) {
            self.days = days
            self.megabytes = megabytes
            self.auditDays = auditDays
        }
    }

    /// The deadlines of a connection for one request. No byte that comes moves a deadline.
    package struct Deadlines: Hashable, Sendable {
        /// From the begin of the connection, or from the answer before, to the head of a request.
        package var head: Duration = .seconds(15)
        /// From the head of a request to its end.
        package var body: Duration = .seconds(60)
        /// From the end of a request to the end of its answer: 4 MiB at 7 kB a second.
        package var answer: Duration = .seconds(600)
        /// From the last answer of a connection to its close, for the other side to read it.
        package var linger: Duration = .seconds(2)
        /// From the begin of a graceful shutdown to the end of the answers that are in progress. With ``ServiceTLS``'s
        /// timeout and what is stored after it, it stays below the 25 s after which supervisors may kill.
        package var shutdown: Duration = .seconds(20)

        /// The defaults.
        package init() {}
    }

    /// The address at which lists are served and reports are taken.
    package var listen = ListenAddress.loopback
    /// The address of the dashboard, the metrics and publications; `nil` for the same one.
    package var adminListen: ListenAddress?
    /// The folder of the database and of what else the service writes.
    package var dataDirectory = "./tumbler-data"
    /// `sqlite`, or the address of a PostgreSQL database without a password.
    package var database = "sqlite"
    /// The service's own TLS; `nil` where something in front of it does that.
    package var tls: Certificates?
    /// The proxies whose `X-Forwarded-For` and `Forwarded` are believed.
    package var trustedProxies: [NetworkRange] = []
    /// Caches: what comes from there is an edge's question, not an installation's, and is not counted for adoption.
    package var edges: [NetworkRange] = []
    /// Whether this machine may look at the dashboard and the figures without a token. See ``isOpen``.
    package var openOnLoopback = false
    /// The retention of reports.
    package var retention = Retention()
    /// The limits on the rate of reports.
    package var reportLimits = SourceLimiter.Limits()
    /// The deadlines of a connection for one request.
    package var deadlines = Deadlines()
    /// The maximum number of connections of the public listener at a time; `nil` for what the descriptors of the
    /// process allow.
    package var maximumConnections: Int?
    /// The root that an app ships, byte for byte, for each name that may be published.
    package var roots: [String: [UInt8]] = [:]
    /// The attestation that names ask of senders of reports; nothing for names that are not here.
    package var attestation: [String: NameAttestation] = [:]
    /// The targets of alarms.
    package var alerts: [AlertTarget] = []

    /// The defaults: loopback, SQLite, nothing published.
    package init() {}

    /// The listener with the dashboard, the metrics and publications: one of their own, or the only one.
    package var operatorListen: ListenAddress { self.adminListen ?? self.listen }

    /// Whether this machine may look without a token: as ``openOnLoopback`` says, on a loopback listener, and with no
    /// proxy or cache that is known (formats.md, section 7). Behind a proxy every request comes from this machine.
    package var isOpen: Bool {
        self.openOnLoopback && self.operatorListen.isLoopback && self.trustedProxies.isEmpty && self.edges.isEmpty
    }
}

/// A target of alarms: a webhook.
package struct AlertTarget: Hashable, Sendable {
    /// The kind of body that a webhook expects.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Our own JSON.
        case webhook
        /// Slack's incoming webhooks.
        case slack
        /// PagerDuty's Events API, version 2.
        case pagerduty
    }

    /// The kind of body that it expects.
    package let kind: Kind
    /// Names it in the log and on the dashboard; no secret.
    package let name: String
    /// Its address, one that ``PinListMetadata/ReportAddress`` allows: over plain `http` an observer on the network path
    /// reads which hosts fail, and the address. A secret: knowing it is enough to post there.
    package let address: String
    /// PagerDuty's routing key. A secret.
    package let routingKey: String

    /// States a target.
    package init(kind: Kind, name: String, address: String, routingKey: String = "") {
        self.kind = kind
        self.name = name
        self.address = address
        self.routingKey = routingKey
    }
}

extension StoreLocation {
    /// Opens the store that the configuration names.
    ///
    /// - Throws: ``StoreError``.
    package static func open(
        _ configuration: ServiceConfiguration, for purpose: Purpose = .serving
    ) throws -> any ServiceStore {
        try Self.open(database: configuration.database, in: configuration.dataDirectory, for: purpose)
    }
}
