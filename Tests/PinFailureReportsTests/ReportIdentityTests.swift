// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinFailureReports
import PinListMetadata
import PinningTesting
import Testing

/// "Failures are identical when noted host, host, port, reason and issuer pin agree (for a self-issued leaf: its subject),
/// with any version of the list."
@Suite("When two failures are the same")
struct ReportIdentityTests {
    private func id(_ report: Report) -> String { report.identity.id }

    @Test("an interceptor who makes a new leaf for each connection is one; another interceptor is another")
    func interceptorWhoMakesANewLeafForEachConnectionIsOne() throws {
        let first = try Scene.report(chain: Scene.chain(leafKey: 1, issuerKey: 2))
        #expect(try self.id(Scene.report(chain: Scene.chain(leafKey: 77, issuerKey: 2))) == self.id(first))
        #expect(try self.id(Scene.report(chain: Scene.chain(leafKey: 1, issuerKey: 3))) != self.id(first))
    }

    @Test("a leaf that issued itself is known by its subject, with any key")
    func leafThatIssuedItselfIsKnownByItsSubjectWithAnyKey() throws {
        func report(_ name: UInt8, key: UInt8, with more: [[UInt8]] = []) throws -> String {
            try self.id(
                Scene.report(chain: [Scene.certificate(subject: [name], issuer: [name], key: [key])] + more))
        }
        #expect(try report(1, key: 1) == report(1, key: 2))
        #expect(try report(1, key: 1) == report(1, key: 2, with: [Scene.chain()[1]]))
        #expect(try report(1, key: 1) != report(2, key: 1))
    }

    @Test(
        "another host, port or reason is another failure; the list's version and the rest of a report are not looked at"
    )
    func anotherHostPortOrReasonIsAnotherFailure() throws {
        let first = try Scene.report()
        var list = Scene.list
        list.version = 8
        #expect(try self.id(Scene.report("b.example.com")) != self.id(first))
        #expect(try self.id(Scene.report(port: 8_443)) != self.id(first))
        #expect(try self.id(Scene.report(list: list)) == self.id(first))
        func incident(_ list: ReportedList) throws -> Report {
            try #require(Report(stale: list, app: Scene.app, at: Scene.start))
        }
        #expect(try self.id(incident(list)) != self.id(incident(Scene.list)), "each list's evidence is its own")
        let decision = try Scene.decision("api.example.com", entries: [Scene.entry("api.example.com")])
        let later = try #require(
            Report(
                decision, port: 443, served: [], isWebView: true, list: Scene.list, app: Scene.app, signals: ["x"],
                at: Scene.start.advanced(by: 5)))
        #expect(later.identity == first.identity)
        let denied = try Scene.decision(
            "api.example.com", entries: [Scene.entry("api.example.com")],
            denied: [DeniedKey(try Pin(publicKeyOf: Scene.chain()[0]))])
        let other = try #require(
            Report(
                denied, port: 443, served: [], isWebView: true, list: Scene.list, app: Scene.app, at: Scene.start))
        #expect(other.identity.id != first.identity.id)
        #expect(other.identity.kind != first.identity.kind)
    }

    @Test("hosts below one entry are of one kind, and so are all that no entry covers")
    func hostsBelowOneEntryAreOfOneKindAndSoAreAllThatNoEntryCovers() throws {
        func identity(_ host: String, _ entries: [PinnedDomain]) throws -> ReportIdentity {
            try #require(
                Report(
                    Scene.decision(host, entries: entries, unlisted: .deny), port: 443, served: [], isWebView: false,
                    list: Scene.list, app: Scene.app, at: Scene.start)
            ).identity
        }
        let entries = [try Scene.entry("example.com")]
        #expect(try identity("a.example.com", entries).kind == identity("b.example.com", entries).kind)
        #expect(try identity("a.example.com", entries).id != identity("b.example.com", entries).id)
        #expect(try identity("a.example.org", entries).kind == identity("b.example.net", entries).kind)
        #expect(try identity("a.example.org", entries).kind != identity("a.example.com", entries).kind)
    }

    @Test("without a certificate, and with one that cannot be read, there is an identity as well")
    func withoutACertificateAndWithOneThatCannotBeReadThereIsAnIdentityAsWell() throws {
        let policy = try PinningPolicy(domains: [Scene.entry("api.example.com")])
        func identity(_ served: [[UInt8]]) throws -> String {
            let decision = policy.refusal(of: "api.example.com", .chainInvalid, detail: "x")
            return try self.id(
                #require(
                    Report(
                        decision, port: 443, served: served, isWebView: false, list: nil, app: Scene.app,
                        at: Scene.start)))
        }
        #expect(
            try Set([identity([]), identity([[1]]), identity(Scene.chain()), identity([Scene.chain()[0], [1]])]).count
                == 4)
    }
}
