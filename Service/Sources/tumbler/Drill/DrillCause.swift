// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// What may be behind refused connections: what the person is asked. One of them is right.
enum DrillCause: Int, CaseIterable, Sendable {
    /// A key of the server that no list has.
    case unlistedKey = 1
    /// Another authority's certificate, in between.
    case interception
    /// A list of a stranger.
    case strangeSigner
    /// A list of our own with wrong pins.
    case wrongPins
    /// Wrong clocks.
    case wrongClocks
    /// A certificate that has expired.
    case expiredCertificate

    /// In words, for the question and for the page.
    var words: String {
        switch self {
        case .unlistedKey: "the server presents a key of which no list has the pin"
        case .interception: "the connections of some are intercepted, with a certificate of another authority"
        case .strangeSigner: "a list is out that none of us signed"
        case .wrongPins: "a list of ours is out, with pins that nobody serves"
        case .wrongClocks: "the clocks of the devices are wrong"
        case .expiredCertificate: "the server's certificate has expired"
        }
    }

    /// The question, a line for each.
    static var question: [String] { Self.allCases.map { "  cause \($0.rawValue)  \($0.words)" } }
}
