// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinListClient

/// Names that look like those of any app: no host gives a trial away.
struct TrialNames {
    private static let beginnings = [
        "al", "bar", "cor", "del", "es", "fin", "gal", "hel", "in", "jun", "ka", "lum", "mar", "nor", "or", "pal",
        "qui",
        "riv", "sal", "ter", "um", "ven", "wes", "yar",
        "zen",
    ]
    private static let ends = [
        "a", "aco", "ado", "ana", "ara", "ax", "bank", "co", "dale", "desk", "eo", "era", "ex", "ia", "ico", "io", "ix",
        "lane", "lo", "na", "pay", "ra", "sa", "ta", "via",
    ]
    private static let services = [
        "api", "app", "auth", "cdn", "checkout", "data", "edge", "gateway", "id", "login", "mobile", "pay", "push",
    ]
    private static let zones = [
        "app", "co.uk", "com", "com.br", "de", "dev", "eu", "fr", "io", "net", "nl", "org", "se",
    ]

    /// A made-up name of a company: `Corvena`.
    let company: String

    /// Its host: `api.corvena.com`.
    let host: String

    /// The name of its app: `com.corvena.app`.
    let app: String

    /// Makes up names.
    init(_ randomness: any PinningRandomness) {
        func one(_ words: [String]) -> String { words[Int(randomness.bits() % UInt64(words.count))] }
        let word = one(Self.beginnings) + one(Self.beginnings) + one(Self.ends)
        self.company = word.prefix(1).uppercased() + word.dropFirst()
        self.host = "\(one(Self.services)).\(word).\(one(Self.zones))"
        self.app = "com.\(word).\(one(Self.services))"
    }
}
