// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinListRepository
import PinRotation
import Testing

@Suite("The hosts that a rotation concerns")
struct RotationHostTests {
    private static let pins = "pins: [{pin: \"\(SourceText.pin("a"))\"}, {pin: \"\(SourceText.pin("b"))\"}]"

    private static func host(_ label: String) throws -> HostName { try HostName("\(label).example.com") }

    /// A source with entries for some hosts; `+` stands before those that include their subdomains.
    private static func source(_ labels: [String]) throws -> ListSource {
        let entries = labels.map { label in
            let isWide = label.hasPrefix("+")
            let host = "\(isWide ? String(label.dropFirst()) : label).example.com"
            return "  - {domain: \(host), \(isWide ? "includeSubdomains: true, " : "")\(self.pins)}\n"
        }
        return try SourceText.read("name: com.example.app\ndomains:\n\(entries.joined())")
    }

    private static func plan(_ labels: [String]) throws -> RotationPlan {
        let entries = try labels.map(self.host)
        return RotationPlan(
            list: "com.example.app", host: try #require(entries.first), entries: entries,
            new: PlannedKey(Pin(kind: .publicKey, hashing: [1])),
            old: [PlannedKey(Pin(kind: .publicKey, hashing: [2]))],
            timeline: RotationTimeline(from: SourceText.now), at: SourceText.now)
    }

    /// The memory of probes that saw some hosts.
    private static func memory(_ labels: [String]) throws -> ProbeMemory {
        let sight = #"{"at": "2026-11-20T00:00:00Z", "issuer": "", "issuerName": "", "pins": []}"#
        let hosts = labels.map { "\"\($0).example.com\": \(sight)" }.joined(separator: ", ")
        return try #require(ProbeMemory(Array("{\"schema\": 1, \"hosts\": {\(hosts)}}".utf8)))
    }

    private static func labels(_ hosts: [HostName]) -> [String] {
        hosts.map { String($0.description.dropLast(".example.com".count)) }
    }

    @Test("a host below an entry is one of its rotation, unless a nearer entry applies to it")
    func hostBelowAnEntryIsOneOfItsRotationUnlessANearerEntryAppliesToIt() throws {
        let hosts = RotationHosts(published: nil, source: try Self.source(["+api", "own.api", "pay", "+web"]))
        let seen = try Self.memory(["www.api", "own.api", "below.pay", "a.web", "strange", "api", "aapi"])
        let plan = try Self.plan(["api", "pay"])
        #expect(Self.labels(hosts.known(of: plan, in: seen)) == ["api", "pay", "www.api"])
        let named = try ["b.api", "www.api", "a.web"].map(Self.host)
        #expect(Self.labels(hosts.known(of: plan, in: seen, and: named)) == ["api", "pay", "www.api", "b.api"])
        #expect(try hosts.belongs(Self.host("b.api"), to: plan) && !hosts.belongs(Self.host("own.api"), to: plan))
        #expect(try !hosts.belongs(Self.host("below.pay"), to: plan) && hosts.belongs(Self.host("pay"), to: plan))
    }

    @Test("the entry of the list that clients have applies before that of the source")
    func entryOfTheListThatClientsHaveAppliesBeforeThatOfTheSource() throws {
        let published = try PinListBuilt.list(try Self.source(["+api"]))
        let hosts = RotationHosts(published: published, source: try Self.source(["+api", "www.api", "+new"]))
        #expect(try hosts.belongs(Self.host("www.api"), to: Self.plan(["api"])))
        // What is not published yet is known from the source.
        #expect(try hosts.belongs(Self.host("a.new"), to: Self.plan(["new"])))
    }

    @Test("an entry with subdomains of which no host below is known is named")
    func entryWithSubdomainsOfWhichNoHostBelowIsKnownIsNamed() throws {
        let source = try Self.source(["+api", "pay", "+web"])
        let hosts = RotationHosts(published: try PinListBuilt.list(try Self.source(["api", "pay"])), source: source)
        let plan = try Self.plan(["api", "pay", "web"])
        func unknown(_ labels: [String]) throws -> [String] {
            let known = hosts.known(of: plan, in: try Self.memory(labels))
            return Self.labels(hosts.entriesWithUnknownHosts(of: plan, known: known))
        }
        #expect(try unknown([]) == ["api", "web"])
        #expect(try unknown(["a.web", "api"]) == ["api"])
        #expect(try unknown(["a.web", "a.api"]) == [])
    }

    @Test("a host that a look saw is remembered, and files of before are read")
    func hostThatALookSawIsRememberedAndFilesOfBeforeAreRead() throws {
        let hosts = RotationHosts(published: nil, source: try Self.source(["+api"]))
        let plan = try Self.plan(["api"])
        var memory = try Self.memory(["www.api"])
        memory.keep(looked: try Self.host("a.api"))
        let read = try #require(ProbeMemory(memory.bytes))
        #expect(read == memory)
        #expect(Self.labels(hosts.known(of: plan, in: read)) == ["api", "a.api", "www.api"])
    }
}
