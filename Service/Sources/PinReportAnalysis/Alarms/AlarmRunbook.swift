// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The meaning of an alarm, and the first action: the words of docs/operations/alarms.md, which a test compares.
package struct AlarmRunbook: Hashable, Sendable {
    /// The effect on users now.
    package let users: String
    /// The effect of leaving it alone.
    package let left: String
    /// The first action.
    package let action: String
    /// The page of the documentation that goes further, from the folder `docs`.
    package let document: String

    /// The path of the dashboard's page about a kind.
    package static func path(_ kind: Alarm.Kind) -> String { "/runbook/\(kind.rawValue)" }

    private init(_ users: String, _ left: String, _ action: String, _ document: String = "operations/alarms.md") {
        self.users = users
        self.left = left
        self.action = action
        self.document = document
    }

    /// The one action of an alarm that says so; `nil` for a kind of a later version, and for a test.
    ///
    /// - Parameters:
    ///   - kind: The kind, as it is stored.
    ///   - sentence: The sentence of the alarm.
    package static func action(_ kind: String, _ sentence: String) -> String? {
        guard let kind = Alarm.Kind(rawValue: kind), kind != .test else { return nil }
        if kind == .failureRate, let cause = AlarmSentence.cause(of: sentence) { return cause.action }
        return AlarmRunbook(kind).action
    }

    /// The runbook of a kind.
    package init(_ kind: Alarm.Kind) {
        self =
            switch kind {
            case .failureRate:
                AlarmRunbook(
                    "connections are refused, or would be in report mode. For lists: clients refuse a list or a root",
                    "as many or more",
                    "open Failures, read the cause and its evidence. A key of yours that no list has: tumbler suspend "
                        + "HOST --for 4h --reason …, then release it. An issuer that is not yours, in few networks: "
                        + "interception, which is refused as it should be. For lists: When a list is refused",
                    "operations/locked-out.md")
            case .listExpiry:
                AlarmRunbook(
                    "nothing",
                    "the list goes stale: clients go on enforcing it and say so, unless the app chose otherwise "
                        + "(whenStale). It can no longer be given to others", "tumbler release")
            case .rootExpiry:
                AlarmRunbook(
                    "nothing",
                    "clients refuse every list from outside (expired) until there is a newer root; what they hold stays "
                        + "in force and goes stale", "bring the holders of root keys together, and renew it",
                    "operations/renewing-a-root.md")
            case .certificateExpiry:
                AlarmRunbook(
                    "nothing", "the certificate ends, and everyone is refused, browsers too",
                    "renew it with a key that the list names", "guides/change-a-servers-key.md")
            case .pinExpiry:
                AlarmRunbook(
                    "nothing", "the domain is no longer pinned",
                    "release a list with a later expiresAt, or without one")
            case .probeFailed:
                AlarmRunbook(
                    "installations that have the list, or one that is still out, are refused", "the same",
                    "serve a key that is in the list", "operations/locked-out.md")
            case .probeUnreached:
                AlarmRunbook(
                    "unknown", "an outage is found by users", "look at the host, then at the network of the probe")
            case .probeMissing:
                AlarmRunbook(
                    "unknown", "a certificate that ends, and a key that apps refuse, is found by users",
                    "tumbler probe --push, then look at the job that runs it", "guides/probe-your-hosts.md")
            case .rotationGate:
                AlarmRunbook(
                    "nothing", "the new key is deployed too early, or never", "tumbler rotate status HOST",
                    "guides/change-a-servers-key.md")
            case .earlySwitch:
                AlarmRunbook(
                    "installations without the new pin are refused", "more of them",
                    "put the old key back on that server", "guides/change-a-servers-key.md")
            case .noRotationPlan:
                AlarmRunbook(
                    "nothing", "a renewal with a new key locks users out",
                    "tumbler rotate plan HOST, or renew with the same key", "guides/change-a-servers-key.md")
            case .revokedCertificate:
                AlarmRunbook(
                    "Tumbler refuses nothing until revoked of the list names the certificate; browsers may refuse it already",
                    "the holder of a stolen key goes on being believed by apps whose list does not name the certificate",
                    "first serve a certificate with another key at every address, and probe. Only then tumbler "
                        + "revocations --certificates OLD-CHAIN.pem --write (the certificate and its issuer's), and tumbler "
                        + "release --live: from then on every app refuses the old one, and no suspension relaxes that "
                        + "(A revoked certificate is served)",
                    "guides/revocation.md")
            case .unexpectedCertificate:
                AlarmRunbook(
                    "nothing, or refusals once it is served",
                    "the holder of its key can answer for the host to clients without pins",
                    "ask who ordered it. Not yours: have the CA revoke it", "guides/certificates-in-logs.md")
            case .adoptionStalled:
                AlarmRunbook(
                    "nothing", "a rotation that counts on the newest list locks out those without it",
                    "do not remove the old key; look at app versions")
            case .equivocation:
                AlarmRunbook(
                    "a client refused and reported a list that your signers signed and that was never published here. "
                        + "Others may have taken it", "a thief signs the next one", "treat the pins keys as stolen",
                    "operations/stolen-pins-key.md")
            case .unknownList:
                AlarmRunbook(
                    "a client was offered an old list, and refused it",
                    "nothing, where you published it before the service began; else as equivocation",
                    "compare it with lists/ of the project")
            case .publishRefused:
                AlarmRunbook(
                    "nothing", "a broken job releases nothing; a stolen token tries on",
                    "tumbler audit-log show, then the token's owner", "operations/service-leaked-token.md")
            case .silence:
                AlarmRunbook(
                    "unknown", "an interceptor or a firewall keeps reports and lists from you",
                    "fetch the list from outside: tumbler refresh")
            case .notVerified:
                AlarmRunbook(
                    "the list or root is not served: clients keep what they have", "they go stale",
                    "restore the database", "operations/service-damaged-database.md")
            case .storeFailed:
                AlarmRunbook(
                    "nothing: lists are served as they were, and clients keep what they have to report",
                    "reports are lost when the clients' queues are full, and no other alarm is told",
                    "look at the disk and the database; the service's log says more", "operations/service-full-disk.md")
            case .test: AlarmRunbook("nothing", "nothing", "nothing is to be done")
            }
    }
}

extension LikelyCause.Kind {
    /// The one action on failures with this cause.
    package var action: String {
        switch self {
        case .rotation: "serve a key that the list names again"
        case .interception: "compare the issuer with what your own probe sees; the refusal is right"
        case .staleClients: "keep the old key served until these apps hold the newest list"
        case .clock: "nothing on the server; compare the devices' clocks with the service's"
        case .cleartext: "find the http address in the app, or the redirect that leads to one"
        case .certificateTime: "renew the certificate with a key that the list names"
        case .refusedList: "fetch the list from outside: tumbler refresh"
        case .unlogged: "ask the server: tumbler ct HOST:443 --logs FILE"
        case .unclear: "open Failures, and compare what was seen with what the host presents"
        }
    }
}
