// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// One way to play the man in the middle.
///
/// All cases but the control are interception: a client that pins sends nothing in any of them.
public struct InterceptionCase: Hashable, Sendable {
    /// The behaviour of a client that trusts the interceptor's CA and pins nothing.
    public enum Unpinned: String, Sendable {
        /// It sends its request: TLS is content, and pins alone would have refused. Where it does not, the bench is broken.
        case takenIn = "taken in"
        /// It refuses, where its TLS library does its part.
        case refuses
        /// It depends on the TLS library and its settings.
        case depends
    }

    /// The input that a case needs before it can be played.
    public enum Need: Sendable {
        /// The certificates that the upstream presents.
        case presentedChain
        /// An issuing CA of the server's own PKI, with its key.
        case intermediate
    }

    /// The certificates that are presented.
    enum Presented: Sendable {
        case untrustedAuthority, trustedAuthority, sameIntermediate, selfSigned, wrongHost, expired, notYetValid
        case appended, copiedNames, sha1, rsa1024, authorityItself, clientPurpose, outsideConstraints, twoNames
    }

    /// The handling of the connection beside the certificates.
    enum Way: Sendable {
        /// TLS, as any server speaks it.
        case plain
        /// The bytes are passed on to the upstream as they are.
        case relayed
        /// The first connection is passed on, the later ones are intercepted.
        case relayedOnce
        /// The answer sends to the same place without TLS.
        case redirecting
        /// One old version of TLS and no other.
        case tls10, tls11
        /// The server's last flight never comes.
        case cut
        /// None of the client's protocols is selected.
        case withoutProtocol
        /// The server's first flight comes late.
        case late
    }

    /// The name of the case on the command line and in reports.
    public let name: String
    /// The property of a client that the case shows.
    public let shows: String
    /// The behaviour of a right client.
    public let rightClient: String
    /// The behaviour of a client without pins that trusts the interceptor's CA.
    public let unpinned: Unpinned
    /// The input that the case needs.
    public let need: Need?
    let presented: Presented
    let way: Way

    init(
        _ name: String, _ shows: String, _ unpinned: Unpinned, _ presented: Presented, _ way: Way = .plain,
        need: Need? = nil, rightClient: String = "refuses the handshake, or closes before it sends a byte"
    ) {
        self.name = name
        self.shows = shows
        self.rightClient = rightClient
        self.unpinned = unpinned
        self.need = need
        self.presented = presented
        self.way = way
    }

    /// Whether nothing is intercepted: a client that works sends its request here.
    public var isControl: Bool { self.way == .relayed }

    /// The case of a name.
    public static func named(_ name: String) -> InterceptionCase? { self.all.first { $0.name == name } }
}

extension InterceptionCase {
    /// The case without interception.
    public static let control = InterceptionCase(
        "control", "no interception: the bytes are passed on to the server as they are", .takenIn, .trustedAuthority,
        .relayed, rightClient: "sends its request; when it does not, its refusals prove nothing")

    /// Every case, in the order in which they are played.
    public static let all = [
        Self.control,
        Self("untrusted-ca", "a certificate for the host by a CA that no client trusts", .refuses, .untrustedAuthority),
        Self(
            "trusted-ca",
            "a certificate for the host by a CA that was installed on the device: a proxy for debugging, an "
                + "antivirus product, a profile of a company, a public CA that was deceived", .takenIn,
            .trustedAuthority),
        Self(
            "same-intermediate", "a certificate for the host by the CA that issued the real one, with another key",
            .takenIn, .sameIntermediate, need: .intermediate,
            rightClient: "refuses where it pins the server's own key; accepts where a pin of this CA is enough"),
        Self("self-signed", "a certificate for the host that vouches for itself", .refuses, .selfSigned),
        Self("wrong-host", "a good certificate of a trusted CA, for another host", .refuses, .wrongHost),
        Self("expired", "a certificate of a trusted CA that ended yesterday", .refuses, .expired),
        Self("not-yet-valid", "a certificate of a trusted CA that begins tomorrow", .refuses, .notYetValid),
        Self(
            "pinned-appended",
            "a chain of a trusted CA with the real certificates behind it: a client that looks for pins in "
                + "the sent chain, not in the validated path, finds them", .takenIn, .appended, need: .presentedChain),
        Self(
            "pinned-names",
            "a copy of the real certificate by a trusted CA: the same subject, names and serial number, "
                + "another key", .takenIn, .copiedNames, need: .presentedChain),
        Self("sha-1", "a certificate of a trusted CA that is signed with SHA-1", .depends, .sha1),
        Self("rsa-1024", "a certificate of a trusted CA with a key of 1024 bits", .depends, .rsa1024),
        Self("ca-as-leaf", "a certificate of a CA in place of a server's", .depends, .authorityItself),
        Self("no-server-auth", "a certificate of a trusted CA that is for clients only", .refuses, .clientPurpose),
        Self(
            "name-constraints", "a certificate by an intermediate CA that may not issue for the host", .refuses,
            .outsideConstraints),
        Self(
            "cleartext-redirect", "a trusted CA's server that sends the client on to http:// at the same place",
            .takenIn,
            .trustedAuthority, .redirecting),
        Self("tls-1.0", "a trusted CA's server that speaks TLS 1.0 alone", .depends, .trustedAuthority, .tls10),
        Self("tls-1.1", "a trusted CA's server that speaks TLS 1.1 alone", .depends, .trustedAuthority, .tls11),
        Self(
            "resumption",
            "the first connection reaches the server, the later ones a trusted CA's server that does not "
                + "resume the session: a client that keeps the first verdict does not check again. It has to "
                + "connect twice", .takenIn, .trustedAuthority, .relayedOnce,
            rightClient: "looks at the certificates of each full handshake, and sends nothing on the later ones"),
        Self(
            "coalescing",
            "a trusted CA's certificate for the host and for \(InterceptionBench.secondName), over HTTP/2: "
                + "requests for the host must not go over a connection that was made for the other name", .takenIn,
            .twoNames,
            rightClient: "sends nothing for the host, neither here nor on a connection for the second name"),
        Self(
            "half-handshake", "a trusted CA's server over TLS 1.2 whose last flight never comes", .depends,
            .trustedAuthority, .cut, rightClient: "sends nothing before the handshake is over"),
        Self(
            "alpn-mismatch", "a trusted CA's server that selects none of the protocols that the client offers",
            .takenIn,
            .trustedAuthority, .withoutProtocol),
        Self(
            "slow", "a trusted CA's server whose certificates come after \(InterceptionBench.secondsLate) s", .takenIn,
            .trustedAuthority, .late,
            rightClient: "refuses once they came; one whose time ran out before is counted as none that came"),
    ]
}

extension InterceptionCase: Encodable {
    private enum CodingKeys: CodingKey { case name, shows, rightClient, unpinned }

    /// Encodes what can be known before it is played.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.name, forKey: .name)
        try container.encode(self.shows, forKey: .shows)
        try container.encode(self.rightClient, forKey: .rightClient)
        try container.encode(self.unpinned.rawValue, forKey: .unpinned)
    }
}
