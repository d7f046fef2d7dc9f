// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A rule that is checked on a list before it is signed.
public struct LintRule: Hashable, Sendable {
    /// The consequence of a finding.
    public enum Severity: String, Hashable, Sendable, Encodable {
        /// An error: the list is not built unless the rule is allowed by name.
        case error
        /// A warning: the finding is printed.
        case warning
    }

    /// Its name: lower case with hyphens; `--allow` takes it.
    public let id: String

    /// The consequence of a finding.
    public let severity: Severity

    /// The danger, in one sentence without a full stop.
    public let reason: String

    /// The remedy.
    public let fix: String

    private init(_ id: String, _ severity: Severity, _ reason: String, fix: String) {
        self.id = id
        self.severity = severity
        self.reason = reason
        self.fix = fix
    }

    /// Equal when the ids are.
    public static func == (left: LintRule, right: LintRule) -> Bool { left.id == right.id }

    /// Feeds the id.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.id) }
}

// MARK: Pins of an entry
extension LintRule {
    static let noBackupPin = LintRule(
        "no-backup-pin", .error,
        "when the one key is lost or must go, clients are locked out until they get a new list",
        fix: "make a second key with tumbler key new, keep it elsewhere, and add its pin")
    static let backupEqualsPrimary = LintRule(
        "backup-equals-primary", .error, "the same pin twice is one pin",
        fix: "replace one of the two by the pin of another key")
    static let pinsInOneChain = LintRule(
        "pins-in-one-chain", .error, "all pins are in the chain that is served: what breaks it breaks them all",
        fix: "add the pin of a key that is in no chain yet")
    static let rootCAPinned = LintRule(
        "root-ca-pinned", .warning, "any authority under this root may issue for the host, and paths may move off it",
        fix: "pin the server's own key, or the issuing authority's and a backup")
    static let certificatePin = LintRule(
        "certificate-pin", .warning, "the pin of a whole certificate ends with it, at the next renewal",
        fix: "pin the key: tumbler pin FILE prints sha256/…")
    static let onlyIssuerPins = LintRule(
        "only-issuer-pins", .warning,
        "every certificate of this authority matches, and public authorities issue to all applicants",
        fix: "add a pin of the server's own key, with requireIssuer where both must match")
    static let unusablePin = LintRule(
        "unusable-pin", .error, "clients of this version cannot use this pin, so it matches nothing",
        fix: "write it sha256/BASE64 with position any, leaf or issuer")
}

// MARK: Times
extension LintRule {
    static let validTooLong = LintRule(
        "valid-too-long", .warning, "an attacker who blocks updates can hold clients on this list for over 90 days",
        fix: "write validFor: 60d, and sign anew every month")
    static let validShorterThanRefresh = LintRule(
        "valid-shorter-than-refresh", .error, "the list is stale before clients ask for the next one",
        fix: "make validFor longer than refreshAfter, several times")
    static let refreshClamped = LintRule(
        "refresh-clamped", .warning, "clients wait at least 15 minutes and at most a day, so this value is not used",
        fix: "write refreshAfter: 12h")
    static let rootExpiresSoon = LintRule(
        "root-expires-soon", .warning, "clients take no list under a root that has expired",
        fix: "tumbler root rotate makes the next root")
    static let rootExpired = LintRule(
        "root-expired", .error, "clients take no list under a root that has expired",
        fix: "tumbler root rotate makes the next root")
    static let domainExpiry = LintRule(
        "domain-expiry", .warning, "after its end the entry is not enforced, and a clock set forward reaches it today",
        fix: "remove expiresAt")
    static let suspensionOverADay = LintRule(
        "suspension-over-a-day", .warning, "until its end an interceptor can hold clients on this suspended list",
        fix: "suspend for hours: tumbler suspend DOMAIN --for 12h")
    static let suspensionEnded = LintRule(
        "suspension-ended", .warning, "this suspension is over and is left out of the list",
        fix: "tumbler resume DOMAIN removes the line")
    static let suspensionOfNothing = LintRule(
        "suspension-of-nothing", .error,
        "a suspension names one entry by its own domain; this names none, and nothing is suspended",
        fix: "write the domain of an entry, or \"*\"")
}

// MARK: Signers, addresses of reports, coverage
extension LintRule {
    static let sharedKey = LintRule(
        "shared-key", .warning, "a thief of the key that signs lists can then also replace all keys",
        fix: "tumbler root rotate with a key of its own for each role")
    /// A threshold that the algorithms of `verifiable` cannot reach. `root rotate` and `sign` look for it, too.
    public static let unverifiableThreshold = LintRule(
        "unverifiable-threshold", .error,
        "clients that verify only the algorithms of verifiable: cannot reach it, and keep the root before it for ever",
        fix: "keep enough keys of these algorithms in the role, and name others with --hybrid ROLE=PUB")
    static let hybridNotDemanded = LintRule(
        "hybrid-not-demanded", .warning,
        "clients make a hybrid demand when they can verify every key of it, and the algorithm of this one is unknown",
        fix: "tumbler root rotate --remove ROLE=KEYID, and a hybrid demand of keys that clients can verify")
    static let signerNotInRoot = LintRule(
        "signer-not-in-root", .warning, "signatures of this key do not count under the newest root",
        fix: "name the key in signers: that root show prints, or give it the role with root rotate")
    static let denyWithoutReport = LintRule(
        "deny-without-report", .warning, "unlisted: deny blocks forgotten hosts, and no report says so",
        fix: "add reportTo, or begin with unlisted: report")
    static let shareWithoutReport = LintRule(
        "share-without-report", .warning,
        "reportPerMillion says how many installations report, and there is no address for their reports",
        fix: "add reportTo, or remove reportPerMillion")
    static let publicSuffix = LintRule(
        "public-suffix", .error, "under a public suffix are the hosts of many owners",
        fix: "name the domain that was registered")
    static let listHostPinned = LintRule(
        "list-host-pinned", .warning,
        "lists and reports go to this host, where no pin ever applies; the app's other requests to it are pinned",
        fix: "give lists and reports a host of their own, or an entry with mode: off")
    static let deniedKeyPinned = LintRule(
        "denied-key-pinned", .error, "a denied key is refused before any pin is looked at, so this pin blocks",
        fix: "remove the pin, or the key from denied")
    static let deniedKeyServed = LintRule(
        "denied-key-served", .error,
        "a denied key is in the path that is served now: all clients would be locked out of this host",
        fix: "change the server's certificate first, or write mode: report in denied")
    static let revokedServed = LintRule(
        "revoked-served", .error,
        "a revoked certificate is in the path that is served now: all clients would be locked out of this host",
        fix: "change the server's certificate first, or write mode: report in revoked")
    static let deniedCertificate = LintRule(
        "denied-certificate", .error,
        "a holder of the certificate can re-encode it so that its signature holds and its hash changes",
        fix: "deny its key: tumbler pin FILE prints sha256/…")
    static let unusedPinSet = LintRule(
        "unused-pin-set", .warning, "no entry uses this pin set, so its pins protect nothing",
        fix: "write use: [NAME] in an entry, or remove the set")
    static let certificateNamesOtherEntry = LintRule(
        "certificate-names-other-entry", .warning,
        "over HTTP/2 one connection may serve both hosts, and the pins of the other do not match",
        fix: "serve a certificate of its own, or give both entries the pins")
    static let unknownMember = LintRule(
        "unknown-member", .error, "clients ignore an unknown member", fix: "remove it")
}

// MARK: Certificate Transparency
extension LintRule {
    static let trapLog = LintRule(
        "trap-log", .error, "the private key of this log is public: anyone can sign for it",
        fix: "remove the log from the log list; clients treat it as unknown")
    static let transparencyWithoutLogs = LintRule(
        "transparency-without-logs", .error,
        "clients evaluate no policy of Certificate Transparency without a log list",
        fix: "write logs: FILE, a log list that you may use and keep up to date")
    static let logsStale = LintRule(
        "logs-stale", .warning, "a log list of over 70 days enforces nothing in clients",
        fix: "get a newer log list, and release a list with it every month")
    static let unseenTransparency = LintRule(
        "unseen-transparency", .error,
        "a certificate that does not satisfy the policy by its embedded timestamps locks all clients out, and no probe "
            + "saw one that does",
        fix: "tumbler probe with logs: in tumbler.yaml; begin with mode: report")
    static let unknownTransparency = LintRule(
        "unknown-transparency", .error, "a mode or a policy that clients do not know evaluates nothing",
        fix: "write mode: report or enforce, and policy: chrome or apple")
}

// MARK: What a publication does
extension LintRule {
    /// A list that is served and that this checkout does not have. `release` looks for it, and so does what releases.
    public static let checkoutBehind = LintRule(
        "checkout-behind", .error,
        "another checkout released the list that is served, and this one would take back what it changed",
        fix: "bring this checkout up to date, look at tumbler diff, and release then")
    static let rolloutLowered = LintRule(
        "rollout-lowered", .error, "installations that enforced will accept any certificate again",
        fix: "keep rollout, or suspend for hours when something is wrong")
    static let versionNotAbove = LintRule(
        "version-not-above", .error, "clients take a version that is not above the published one for an attack",
        fix: "tumbler build --published takes the next one")
    static let wouldCutOff = LintRule(
        "would-cut-off", .error, "the served certificates match no pin of the new list: clients would be locked out",
        fix: "is that key yours? compare tumbler pin HOST:443 and tumbler pin FILE of your key, then add it")
    static let propagation = LintRule(
        "propagation", .error,
        "a pin goes while its successor is not out for long enough: clients that lag behind would be locked out",
        fix: "keep the pin until every list that installations may still hold has its successor")
    static let propagationShort = LintRule(
        "propagation-short", .warning,
        "where adoption is not measured, time alone says who has a list, and many apps are not opened for weeks",
        fix: "write propagation: 30d, or let a service measure adoption")
    static let heldListRefuses = LintRule(
        "held-list-refuses", .error,
        "the served certificates match no pin of a list that installations may still hold: these are locked out",
        fix: "serve the old key until they have the new pin; if that is impossible, tumbler suspend DOMAIN --for 12h")
    static let listsMissing = LintRule(
        "lists-missing", .warning, "installations may hold a list that is not in lists/, and nothing is known of it",
        fix: "commit lists/ with the source, and update this checkout")
    static let listHostSharesFate = LintRule(
        "list-host-shares-fate", .warning,
        "the host of the lists serves the key of a pinned host: what breaks the one breaks the way to its cure",
        fix: "give the host of the lists a key and a certificate of its own")
    static let notObserved = LintRule(
        "not-observed", .warning, "the served certificates could not be read, so they were not checked",
        fix: "run this where the host can be reached; --roots FILE names the anchors of a private CA")
}

extension LintRule {
    /// All rules, in the order of the documentation.
    public static let all: [LintRule] = [
        .noBackupPin, .backupEqualsPrimary, .pinsInOneChain, .rootCAPinned, .certificatePin, .onlyIssuerPins,
        .unusablePin, .validTooLong, .validShorterThanRefresh, .refreshClamped, .rootExpiresSoon,
        .rootExpired,
        .domainExpiry, .suspensionOverADay, .suspensionEnded, .suspensionOfNothing, .sharedKey,
        .unverifiableThreshold, .hybridNotDemanded, .signerNotInRoot, .denyWithoutReport,
        .shareWithoutReport, .publicSuffix,
        .listHostPinned, .deniedKeyPinned, .deniedKeyServed, .revokedServed, .deniedCertificate,
        .unusedPinSet, .certificateNamesOtherEntry,
        .trapLog, .transparencyWithoutLogs, .logsStale, .unseenTransparency, .unknownTransparency,
        .unknownMember, .checkoutBehind, .rolloutLowered, .versionNotAbove, .wouldCutOff, .heldListRefuses,
        .propagation, .propagationShort, .listsMissing, .listHostSharesFate, .notObserved,
    ]

    /// The rule with an id, or `nil`.
    public static func named(_ id: String) -> LintRule? { self.all.first { $0.id == id } }
}
