// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import tumbler

/// Which addresses a command asks for revocation lists, and how often.
@Suite("Addresses of revocation lists")
struct RevocationListSourceTests {
    private static let silence = RevocationListDownload.DownloadError("no answer", isUnreached: true)

    /// Takes all that is left.
    private static func rest(of sources: inout RevocationListSources) -> [String] {
        var texts: [String] = []
        while case let batch = sources.next(), !batch.isEmpty { texts += batch.map(\.text) }
        return texts
    }

    @Test("the list that a hundred hosts' certificates name is asked for once, however its address is spelled")
    func listThatAHundredHostsCertificatesNameIsAskedForOnceHoweverItsAddressIsSpelled() {
        var sources = RevocationListSources()
        let spellings = [
            "http://crl.example.com/ca.crl", "HTTP://crl.example.com/ca.crl", "http://CRL.Example.COM/ca.crl",
            "http://crl.example.com:80/ca.crl", "http://crl.example.com./ca.crl", "http://crl.example.com/ca.crl#now",
        ]
        for number in 0..<100 { sources.add(spellings[number % spellings.count], isGiven: false) }
        sources.add("http://crl.example.com", isGiven: false)
        sources.add("http://crl.example.com/", isGiven: false)
        let others = [
            "https://crl.example.com/ca.crl", "http://crl.example.com/CA.crl", "http://crl.example.com:81/ca.crl",
            "http://crl.example.com/ca.crl?shard=1", "http://crl.example.org/ca.crl",
        ]
        for other in others { sources.add(other, isGiven: false) }
        #expect(Self.rest(of: &sources) == [spellings[0], "http://crl.example.com"] + others)
    }

    @Test("why there is no list is said of each spelling")
    func whyThereIsNoListIsSaidOfEachSpelling() throws {
        var sources = RevocationListSources()
        sources.add("http://crl.example.com/ca.crl", isGiven: false)
        sources.add("ftp://crl.example.com/", isGiven: true)
        for source in sources.next() {
            sources.note(RevocationListDownload.DownloadError("\(source.text) answers 404"), of: source)
        }
        #expect(sources.trouble(of: "HTTP://CRL.example.com:80/ca.crl") == "http://crl.example.com/ca.crl answers 404")
        #expect(sources.trouble(of: "ftp://crl.example.com/") == "ftp://crl.example.com/ answers 404")
        #expect(sources.trouble(of: "http://crl.example.com/") == nil)
    }

    @Test("a certificate that names many lists of a server that never answers is waited for once")
    func certificateThatNamesManyListsOfAServerThatNeverAnswersIsWaitedForOnce() throws {
        var sources = RevocationListSources()
        for number in 0..<100 { sources.add("http://silent.example/\(number)", isGiven: false) }
        sources.add("http://silent.example:8080/", isGiven: false)
        sources.add("http://other.example/", isGiven: false)
        let first = sources.next()
        #expect(first.count == RevocationListSources.atOnce)
        for source in first { sources.note(Self.silence, of: source) }
        // Another port is another server.
        #expect(Self.rest(of: &sources) == ["http://silent.example:8080/", "http://other.example/"])
        let reason = try #require(sources.trouble(of: "http://silent.example/99"))
        #expect(reason.contains("silent.example:80 was not reached"))
        #expect(sources.trouble(of: "http://other.example/") == nil)
    }

    @Test("a server that answers with no list, or with none that is one, is asked for its others")
    func serverThatAnswersWithNoListIsAskedForItsOthers() {
        var sources = RevocationListSources()
        for number in 0..<9 { sources.add("http://crl.example.com/\(number)", isGiven: false) }
        for source in sources.next() { sources.note(RevocationListDownload.DownloadError("answers 404"), of: source) }
        #expect(Self.rest(of: &sources).count == 5)
    }

    @Test("256 addresses of certificates are asked, and every one that the operator names, before and beyond them")
    func of256AddressesOfCertificatesAreAskedAndEveryOneThatTheOperatorNames() throws {
        var sources = RevocationListSources()
        let given = (0..<6).map { "http://silent.example/given/\($0)" }
        for address in given { sources.add(address, isGiven: true) }
        for number in 0..<1_000 { sources.add("http://crl.example.com/\(number)", isGiven: false) }
        let first = sources.next()
        for source in first { sources.note(Self.silence, of: source) }
        let asked = first.map(\.text) + Self.rest(of: &sources)
        #expect(Array(asked.prefix(6)) == given)
        #expect(asked.count == 6 + RevocationListSources.maximumAddresses)
        #expect(RevocationListSources.maximumAddresses == 256)
        let reason = try #require(sources.trouble(of: "http://crl.example.com/256"))
        #expect(reason == "over 256 addresses are not asked")
        #expect(sources.trouble(of: "http://crl.example.com/255") == nil)
    }
}
