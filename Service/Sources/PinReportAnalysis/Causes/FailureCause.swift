// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The most likely cause of a group of failures, in words.
package enum FailureCause: String, CaseIterable, Sendable {
    /// A host serves a key that the list does not name.
    case rotation
    /// An interceptor between app and host presents certificates of its own.
    case interception
    /// Installations that hold an old list.
    case staleClients = "stale-clients"
    /// Devices whose clock is wrong.
    case clockErrors = "clock-errors"
    /// Requests without TLS to a host that is pinned.
    case cleartext
    /// TLS that failed before pins were looked at.
    case otherTLS = "other-tls"
    /// A list or a root that clients refused: nothing of a connection.
    case refusedList = "refused-list"
    /// None of these.
    case unknown

    /// In a word or two.
    package var label: String {
        switch self {
        case .rotation: "Rotation to an unlisted key"
        case .interception: "Interception"
        case .staleClients: "Stale clients"
        case .clockErrors: "Wrong clocks"
        case .cleartext: "Cleartext"
        case .otherTLS: "Other TLS failure"
        case .refusedList: "Refused list or root"
        case .unknown: "Not clear"
        }
    }

    /// The meaning of the cause, in a sentence.
    package var meaning: String {
        switch self {
        case .rotation:
            "Many networks see the same new certificate from a public CA: the host changed its key, and the list does "
                + "not name it."
        case .interception:
            "Few networks see an issuer that no other network sees: a company's proxy, antivirus, a debugging tool or "
                + "an attacker stands in between. Pinning does what it is for."
        case .staleClients: "Only installations with an old list fail: newer ones accept this host."
        case .clockErrors: "The certificates are valid, and the devices' clocks are outside their validity."
        case .cleartext: "The app asks a pinned host without TLS; the request was refused before it was sent."
        case .otherTLS: "The platform refused the certificates for another reason; pins were not evaluated."
        case .refusedList: "Clients were offered a list or a root that they refuse; connections are not affected."
        case .unknown: "The reports fit none of the known patterns."
        }
    }

    /// The advice, in a sentence.
    package var advice: String {
        switch self {
        case .rotation:
            "Serve the listed key again, or sign and release a list that names the new one. If users are locked out, "
                + "suspend the host for hours."
        case .interception:
            "Look at the issuer. Tell the network's owner, or leave it. Never add an interceptor's key to the list."
        case .staleClients: "Look at adoption: keep the old pin served until these installations have the new list."
        case .clockErrors: "Nothing on the server. Tell users when there are many."
        case .cleartext: "Find the http address in the app, or a redirect that leads to one."
        case .otherTLS: "Check the chain that the host serves, and its intermediate certificates."
        case .refusedList: "Check what the list's address and every cache in front of it serve."
        case .unknown: "Look at the certificates and samples."
        }
    }

    /// A sign beside the words.
    package var sign: String {
        switch self {
        case .rotation: "■"
        case .interception: "◆"
        case .staleClients, .clockErrors, .cleartext, .refusedList: "▲"
        case .otherTLS, .unknown: "○"
        }
    }
}
