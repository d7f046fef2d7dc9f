// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinListMetadata

/// What the service is told when it starts (formats.md, section 10). Values: files are read by whoever starts it.
public struct ServiceConfiguration: Sendable {
    /// Certificates of the service's own TLS.
    public struct Certificates: Hashable, Sendable {
        /// The path of the chain, PEM, leaf first.
        public var certificate: String
        /// The path of the private key, PEM.
        public var key: String

        /// Names the files.
        public init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    /// How long reports, the audit log and evidence are kept.
    public struct Retention: Hashable, Sendable {
        /// Reports, in days.
        public var days: Int64
        /// Reports, in megabytes (10^6 bytes) of the database.
        public var megabytes: Int64
        /// The audit log, by whole months, and evidence, in days: ``leastAuditDays`` or more.
        public var auditDays: Int64

        /// What alarms and pages look back at: no setting removes entries or evidence that are younger.
        public static let leastAuditDays: Int64 = 90

        /// States the limits: of the two of reports what comes first holds.
        public init(days: Int64 = 90, megabytes: Int64 = 2_048, auditDays: Int64 = 400) {
            self.days = days
            self.megabytes = megabytes
            self.auditDays = auditDays
        }
    }

    /// How long a connection may take over one request. No byte that comes moves a deadline.
    public struct Deadlines: Hashable, Sendable {
        /// From the begin of the connection, or from the answer before, to the head of a request.
        public var head: Duration = .seconds(15)
        /// From the head of a request to its end.
        public var body: Duration = .seconds(60)
        /// From the end of a request to the end of its answer: 4 MiB at 7 kB a second.
        public var answer: Duration = .seconds(600)
        /// From the last answer of a connection to its close, for the other side to read it.
        public var linger: Duration = .seconds(2)
        /// From the begin of a graceful shutdown to the end of the answers that are in progress. With ``ServiceTLS``'s
        /// timeout and what is stored after it, it stays below the 25 s after which supervisors may kill.
        public var shutdown: Duration = .seconds(20)

        /// The defaults.
        public init() {}
    }

    /// Where lists are served and reports are taken.
    public var listen = ListenAddress.loopback
    /// Where the dashboard, the metrics and publications are; `nil` for the same place.
    public var adminListen: ListenAddress?
    /// The folder of the database and of what else the service writes.
    public var dataDirectory = "./tumbler-data"
    /// `sqlite`, or the address of a PostgreSQL database without a password.
    public var database = "sqlite"
    /// The service's own TLS; `nil` where something in front of it does that.
    public var tls: Certificates?
    /// Whose `X-Forwarded-For` and `Forwarded` are believed.
    public var trustedProxies: [NetworkRange] = []
    /// Caches: what comes from there is an edge's question, not an installation's, and is not counted for adoption.
    public var edges: [NetworkRange] = []
    /// Whether this machine may look at the dashboard and the figures without a token. See ``isOpen``.
    public var openOnLoopback = false
    /// How long reports are kept.
    public var retention = Retention()
    /// How many reports are taken.
    public var reportLimits = SourceLimiter.Limits()
    /// How long a connection may take over one request.
    public var deadlines = Deadlines()
    /// The most connections of the public listener at a time; `nil` for what the descriptors of the process allow.
    public var maximumConnections: Int?
    /// The root that an app ships, byte for byte, for each name that may be published.
    public var roots: [String: [UInt8]] = [:]
    /// What names ask of those who send reports; nothing for those that are not here.
    public var attestation: [String: NameAttestation] = [:]
    /// Who is warned.
    public var alerts: [AlertTarget] = []

    /// The defaults: loopback, SQLite, nothing published.
    public init() {}

    /// The listener with the dashboard, the metrics and publications: one of their own, or the only one.
    public var operatorListen: ListenAddress { self.adminListen ?? self.listen }

    /// Whether this machine may look without a token: as ``openOnLoopback`` says, on a loopback listener, and with no
    /// proxy or cache that is known (formats.md, section 7). Behind a proxy every request comes from this machine.
    public var isOpen: Bool {
        self.openOnLoopback && self.operatorListen.isLoopback && self.trustedProxies.isEmpty && self.edges.isEmpty
    }
}

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
