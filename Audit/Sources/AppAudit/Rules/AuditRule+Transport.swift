// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// App Transport Security, and what is sent without TLS.
extension AuditRule {
    static let ofTransport = [
        arbitraryLoads, arbitraryMedia, arbitraryWeb, localNetworking, insecureHTTP, oldTLS, noForwardSecrecy,
        exceptionOfPinnedHost, pinnedDomainsDiffer, pinnedDomainsUnion, cleartext,
    ]

    static let arbitraryLoads = AuditRule(
        "ats-arbitrary-loads", .error,
        "NSAllowsArbitraryLoads turns App Transport Security off for every host without an exception of its own: cleartext and old TLS are allowed.",
        "Remove it, and make exceptions for the hosts that need one.")
    static let arbitraryMedia = AuditRule(
        "ats-arbitrary-loads-media", .warning, "NSAllowsArbitraryLoadsForMedia: AVFoundation may load in cleartext.",
        "Serve media over https and remove it.")
    static let arbitraryWeb = AuditRule(
        "ats-arbitrary-loads-web", .warning, "NSAllowsArbitraryLoadsInWebContent: web views may load in cleartext.",
        "Remove it, or open foreign pages outside of the app.")
    static let localNetworking = AuditRule(
        "ats-local-networking", .note, "NSAllowsLocalNetworking: local names and addresses may be asked in cleartext.",
        "Keep it only when the app talks to devices in the house.")
    static let insecureHTTP = AuditRule(
        "ats-insecure-http", .error,
        "The exception allows cleartext for a host: an attacker on the network path reads and changes it.",
        "Serve the host over https and remove the exception.")
    static let oldTLS = AuditRule(
        "ats-old-tls", .error, "The exception allows TLS below 1.2 for a host.",
        "Bring the host to TLS 1.2 or newer and remove NSExceptionMinimumTLSVersion.")
    static let noForwardSecrecy = AuditRule(
        "ats-no-forward-secrecy", .warning,
        "The exception allows ciphers without forward secrecy: a key that is stolen later opens what was recorded.",
        "Offer ECDHE at the host and remove NSExceptionRequiresForwardSecrecy.")
    static let exceptionOfPinnedHost = AuditRule(
        "ats-exception-for-pinned-host", .error,
        "The pin list pins the host, and App Transport Security makes an exception for it.",
        "Remove the exception: a pin means nothing for a connection without TLS.")
    static let pinnedDomainsDiffer = AuditRule(
        "ats-pinned-domains-differ", .error,
        "NSPinnedDomains and the pin list expect different keys of a host: one of them refuses what the other takes.",
        "Make them say the same (tumbler convert), or keep one of them alone.")
    static let pinnedDomainsUnion = AuditRule(
        "ats-pinned-domains-union", .warning,
        "Apple takes the pins of an entry together with those of the one a label above that covers subdomains: an array that only the parent has must match, too, and of one that both have the parent's pins match as well.",
        "Give both entries the same pins, or end NSIncludesSubdomains of the parent.")
    static let cleartext = AuditRule(
        "cleartext-url", .warning, "An address without TLS: an attacker on the path reads and changes what is sent.",
        "Use https or wss.")
}
