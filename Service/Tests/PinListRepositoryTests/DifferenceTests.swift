// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListDifference
import PinListMetadata
import PinListRepository
import Testing

@Suite("The differences between two lists")
struct DifferenceTests {
    private static func lines(_ old: String?, _ new: String) throws -> [String] {
        let old = try old.map { try PinListBuilt.list($0) }
        return ListDifference(old: old, new: try PinListBuilt.list(new)).lines
    }

    @Test("a list compared with itself has no differences")
    func listComparedWithItselfHasNoDifferences() throws {
        let pin = "{pin: \"\(SourceText.pin("b"))\"}"
        // One pin twice, under two notes, is two pins of an entry.
        let twice = "\(pin.dropLast()), note: backup}, \(pin.dropLast()), note: spare}"
        for text in [SourceText.good(), SourceText.good().replacing(pin, with: twice)] {
            let list = try PinListBuilt.list(text)
            #expect(ListDifference(old: list, new: list).isEmpty)
        }
    }

    @Test("a first list is new, entry by entry and pin by pin")
    func firstListIsNewEntryByEntryAndPinByPin() throws {
        #expect(
            try Self.lines(nil, SourceText.good()) == [
                "+ list: com.example.app version 1", "+ api.example.com: entry enforce, 2 pins",
                "+ api.example.com: pin \(SourceText.pin("a"))", "+ api.example.com: pin \(SourceText.pin("b"))",
            ])
    }

    @Test("a new entry says where its failures go, when it ends and which logs it asks for, too")
    func newEntrySaysWhereItsFailuresGoWhenItEndsAndWhichLogsItAsksForToo() throws {
        let old = try PinListBuilt.list(SourceText.good())
        var new = old
        var domain = try #require(new.domains.first)
        domain.entry.domain = try HostName("pay.example.com")
        domain.entry.expiresAt = try Timestamp("2027-01-01T00:00:00Z")
        domain.entry.reportTo = ["https://elsewhere.example/v1"]
        domain.entry.transparency = TransparencyRule(.enforce, .chrome)
        domain.reportPerMillion = 7
        new.domains.append(domain)
        #expect(
            ListDifference(old: old, new: new).lines == [
                "+ pay.example.com: entry enforce, 2 pins", "+ pay.example.com: pin \(SourceText.pin("a"))",
                "+ pay.example.com: pin \(SourceText.pin("b"))", "+ pay.example.com: expiresAt 2027-01-01T00:00:00Z",
                "+ pay.example.com: reportTo https://elsewhere.example/v1",
                "+ pay.example.com: reportPerMillion 7", "+ pay.example.com: transparency enforce chrome",
            ])
    }

    @Test("an exchanged pin is one pin more and one less")
    func exchangedPinIsOnePinMoreAndOneLess() throws {
        let old = SourceText.good()
        let new = old.replacing(SourceText.pin("b"), with: SourceText.pin("c"))
        #expect(
            try Self.lines(old, new) == [
                "+ api.example.com: pin \(SourceText.pin("c")) (accepts more)",
                "- api.example.com: pin \(SourceText.pin("b"))",
            ])
    }

    @Test("a pin whose note alone is another accepts nothing more, and refuses nothing")
    func pinWhoseNoteAloneIsAnotherAcceptsNothingMoreAndRefusesNothing() throws {
        func source(_ note: String) -> String {
            SourceText.good().replacing(
                "{pin: \"\(SourceText.pin("b"))\"", with: "{pin: \"\(SourceText.pin("b"))\", note: \(note)")
        }
        let (old, new) = (try PinListBuilt.list(source("backup")), try PinListBuilt.list(source("next")))
        let difference = ListDifference(old: old, new: new)
        let pin = SourceText.pin("b")
        #expect(difference.lines == ["~ api.example.com: note of a pin \(pin) \"backup\" → \(pin) \"next\""])
        #expect(!difference.changes.contains { $0.weakens || $0.mayRefuse })
    }

    @Test("a change that weakens is said to weaken")
    func whateverWeakensIsSaidTo() throws {
        let old = SourceText.good(
            "denied: [\"\(SourceText.pin("c"))\"]", entry: "includeSubdomains: true", list: "unlisted: deny")
        let new = SourceText.good(
            "suspended: [{domain: '*', until: \(SourceText.now.later(60)), reason: drill}]",
            entry: "mode: report\n    rollout: 50\n    expiresAt: 2027-01-01T00:00:00Z", list: "unlisted: allow")
        #expect(
            try Self.lines(old, new) == [
                "~ list: unlisted deny → allow (accepts more)",
                "~ api.example.com: mode enforce → report (accepts more)",
                "~ api.example.com: includeSubdomains true → false (accepts more)",
                "~ api.example.com: rollout 100 % → 50 % (accepts more)",
                "~ api.example.com: expiresAt none → 2027-01-01T00:00:00Z (accepts more)",
                "- denied: key \(SourceText.pin("c")) (accepts more)",
                "+ suspended: * until \(SourceText.now.later(60)), \"drill\" (accepts more)",
            ])
        #expect(try Self.lines(new, old).filter { $0.contains("accepts more") }.isEmpty)
    }

    /// An entry below that of the source.
    private static func entry(_ pins: String...) -> String {
        let pins = pins.map { "{pin: \"\(SourceText.pin(Character($0)))\"}" }.joined(separator: ", ")
        return "  - domain: pay.api.example.com\n    pins: [\(pins)]\n"
    }

    /// What is said of entries that come, go or apply to other hosts.
    private static func marked(_ old: String, _ new: String) throws -> [String] {
        try Self.lines(old, new).filter { $0.contains("entry") || $0.contains("includeSubdomains") }.map { line in
            if line.hasSuffix(" (accepts more, and refuses more)") { return "both" }
            if line.hasSuffix(" (accepts more)") { return "more" }
            return line.hasSuffix(" (refuses more)") ? "less" : "as before"
        }
    }

    /// Whether clients may refuse by any of the changes what they accepted before.
    private static func mayRefuse(_ old: String, _ new: String) throws -> Bool {
        ListDifference(old: try PinListBuilt.list(old), new: try PinListBuilt.list(new)).changes
            .contains { $0.mayRefuse }
    }

    @Test("an entry that goes accepts more where its hosts are let through then, and refuses more where they are not")
    func entryThatGoesAcceptsMoreWhereItsHostsAreLetThroughThenAndRefusesMoreWhereTheyAreNot() throws {
        let (open, closed) = (SourceText.good(), SourceText.good(list: "unlisted: deny"))
        #expect(try Self.marked(open + Self.entry("a", "b"), open) == ["more"])
        // A host that no entry covers is refused whatever it serves: it was said to be as before.
        #expect(try Self.marked(closed + Self.entry("a", "b"), closed) == ["less"])
        #expect(try Self.marked(closed + Self.entry("a", "b") + "    mode: off\n", closed) == ["less"])
        #expect(try Self.marked(open + Self.entry("a", "b") + "    mode: off\n", open) == ["as before"])
        let parent = SourceText.good(entry: "includeSubdomains: true", list: "unlisted: deny")
        #expect(try Self.marked(parent + Self.entry("a", "b"), parent) == ["as before"])
        // Its subdomains go: they are refused, and were said to be as before.
        #expect(try Self.marked(parent, closed) == ["less"])
        #expect(try Self.marked(SourceText.good(entry: "includeSubdomains: true"), open) == ["more"])
        #expect(try !Self.mayRefuse(SourceText.good(entry: "includeSubdomains: true"), open))
    }

    @Test("an entry that goes below a parent that lacks its pin locks its host out, and does not only accept more")
    func entryThatGoesBelowAParentThatLacksItsPinLocksItsHostOutAndDoesNotOnlyAcceptMore() throws {
        let parent = SourceText.good(entry: "includeSubdomains: true")
        for first in ["a", "d"] {
            // The server may serve c, which the parent does not have; b was refused so far.
            let own = parent + Self.entry(first, "c")
            #expect(try Self.mayRefuse(own, parent), "\(first)")
            #expect(
                try Self.lines(own, parent)
                    == ["- pay.api.example.com: entry enforce, 2 pins (accepts more, and refuses more)"])
        }
        // All of the parent's pins are among its own: it only refuses more. And the other way round.
        #expect(try Self.marked(parent + Self.entry("a", "b", "c"), parent) == ["less"])
        let one = parent + Self.entry("a")
        #expect(try Self.marked(one, parent) == ["more"])
        #expect(try !Self.mayRefuse(one, parent))
        // One that refused nothing, and whose host the parent refuses.
        for less in ["mode: off", "mode: report", "rollout: 0"] {
            let own = parent + Self.entry("c", "d") + "    \(less)\n"
            #expect(try Self.marked(own, parent) == ["less"], "\(less)")
            #expect(try Self.mayRefuse(own, parent), "\(less)")
        }
        // A parent that no installation enforces refuses nothing.
        for less in ["mode: report", "rollout: 0"] {
            let tame = SourceText.good(entry: "includeSubdomains: true\n    \(less)")
            #expect(try Self.marked(tame + Self.entry("c", "d"), tame) == ["more"], "\(less)")
            #expect(try !Self.mayRefuse(tame + Self.entry("c", "d"), tame), "\(less)")
        }
    }

    @Test("an entry that takes hosts out of an enforced parent accepts more, and one that is as strict does not")
    func entryThatTakesHostsOutOfAnEnforcedParentIsSaidToAcceptMore() throws {
        let parent = SourceText.good(entry: "includeSubdomains: true")
        #expect(try Self.marked(parent, parent + Self.entry("a", "b")) == ["as before"])
        // It accepts a pin that the parent has not, and refuses one that the parent has: it was said to accept more.
        #expect(try Self.marked(parent, parent + Self.entry("a", "c")) == ["both"])
        for less in ["mode: off", "mode: report", "rollout: 99", "expiresAt: 2027-01-01T00:00:00Z"] {
            #expect(try Self.marked(parent, parent + Self.entry("a", "b") + "    \(less)\n") == ["more"], "\(less)")
        }
        // Its subdomains belonged to the parent so far.
        let carved = parent + Self.entry("a", "b") + "    mode: off\n"
        #expect(try Self.marked(carved, carved + "    includeSubdomains: true\n") == ["more"])
        let alike = parent + Self.entry("a", "b")
        #expect(try Self.marked(alike, alike + "    includeSubdomains: true\n") == ["as before"])
        // Without a parent the host was let through, or refused.
        #expect(try Self.marked(SourceText.good(), SourceText.good() + Self.entry("a", "c")) == ["as before"])
        let closed = SourceText.good(list: "unlisted: deny")
        #expect(try Self.marked(closed, closed + Self.entry("a", "c")) == ["more"])
    }

    @Test("subdomains that change hands may be refused, by what accepts more as well")
    func subdomainsThatChangeHandsMayBeRefused() throws {
        let parent = SourceText.good(entry: "includeSubdomains: true")
        let own = parent + Self.entry("c", "d")
        let wide = own + "    includeSubdomains: true\n"
        // An entry that goes was missing here: to its host the same happens as to subdomains.
        for (old, new) in [(own, wide), (wide, own), (parent, own), (own, parent)] {
            let difference = ListDifference(old: try PinListBuilt.list(old), new: try PinListBuilt.list(new))
            #expect(difference.changes.contains { $0.weakens && $0.mayRefuse })
            #expect(try Self.marked(old, new) == ["both"])
        }
    }

    @Test("another log list may refuse, and accepts more, where a policy is enforced; none accepts more")
    func anotherLogListMayRefuseAndAcceptsMoreWhereAPolicyIsEnforced() throws {
        let logs = ["1", "2"].compactMap { ListedLogs(of: Array($0.utf8)) }
        func effect(_ mode: TransparencyRule.Mode, entry: PinnedDomain.Mode, to next: ListedLogs?) throws -> [Bool] {
            var old = try PinListBuilt.list(SourceText.good())
            old.domains[0].entry.mode = entry
            old.domains[0].entry.transparency = TransparencyRule(mode, .chrome)
            old.logs = logs[0]
            var new = old
            new.logs = next
            let changes = ListDifference(old: old, new: new).changes
            #expect(changes.map(\.what) == (next == old.logs ? [] : ["logs"]))
            return [changes.contains { $0.mayRefuse }, changes.contains { $0.weakens }]
        }
        #expect(try effect(.enforce, entry: .enforce, to: logs[1]) == [true, true])
        #expect(try effect(.enforce, entry: .enforce, to: logs[0]) == [false, false])
        #expect(try effect(.enforce, entry: .enforce, to: nil) == [false, true])
        #expect(try effect(.report, entry: .enforce, to: logs[1]) == [false, false])
        #expect(try effect(.enforce, entry: .report, to: logs[1]) == [false, false])
    }

    @Test("an end that comes earlier accepts more, and one that comes later or not at all does not")
    func endThatComesEarlierAcceptsMore() throws {
        func line(_ old: String, _ new: String) throws -> String? {
            try Self.lines(SourceText.good(entry: old), SourceText.good(entry: new)).first
        }
        let (early, late) = ("expiresAt: 2027-01-01T00:00:00Z", "expiresAt: 2027-02-01T00:00:00Z")
        #expect(try line(late, early)?.hasSuffix("(accepts more)") == true)
        #expect(try line(early, late)?.hasSuffix("(accepts more)") == false)
        #expect(try line(early, "")?.hasSuffix("(accepts more)") == false)
        // An entry that has ended lets everything through, which one with a later end may refuse.
        #expect(try Self.mayRefuse(SourceText.good(entry: early), SourceText.good(entry: late)))
        #expect(try !Self.mayRefuse(SourceText.good(entry: late), SourceText.good(entry: early)))
    }

    @Test("a policy in the place of another one accepts more and refuses more: neither is a part of the other")
    func policyInThePlaceOfAnotherOneAcceptsMoreAndRefusesMore() throws {
        var old = try PinListBuilt.list(SourceText.good())
        old.domains[0].entry.transparency = TransparencyRule(.enforce, .chrome)
        var new = old
        new.domains[0].entry.transparency = TransparencyRule(.enforce, .apple)
        #expect(
            ListDifference(old: old, new: new).lines == [
                "~ api.example.com: transparency enforce chrome → enforce apple (accepts more, and refuses more)"
            ])
    }

    @Test("the number of installations that report; it accepts nothing more")
    func numberOfInstallationsThatReportItAcceptsNothingMore() throws {
        let old = SourceText.good()
        let new = SourceText.good(entry: "reportPerMillion: 20", list: "reportPerMillion: 10000")
        #expect(
            try Self.lines(old, new) == [
                "~ list: reportPerMillion 1000000 → 10000",
                "~ api.example.com: reportPerMillion as the list says → 20",
            ])
    }

    @Test("an entry that goes, one that comes, and the order of the pins")
    func entryThatGoesOneThatComesAndTheOrderOfThePins() throws {
        let old = SourceText.good()
        let moved = old.replacing("api.example.com", with: "www.example.com")
        #expect(
            try Self.lines(old, moved).map { String($0.prefix(25)) }
                == [
                    "+ www.example.com: entry e", "+ www.example.com: pin sha", "+ www.example.com: pin sha",
                    "- api.example.com: entry e",
                ].map { String($0.prefix(25)) })
        var list = try PinListBuilt.list(old)
        let first = list
        list.domains[0].entry.pins.reverse()
        list.version += 1
        #expect(
            ListDifference(old: first, new: list).lines == [
                "~ list: version 1 → 2", "~ api.example.com: the order of its pins ",
            ])
    }

    @Test("a reason with an escape sequence does not reach the terminal")
    func reasonWithAnEscapeSequenceDoesNotReachTheTerminal() throws {
        let new = SourceText.good(
            "suspended: [{domain: '*', until: \(SourceText.now.later(60)), reason: \"a\\e[31m\\nb\"}]")
        let lines = try Self.lines(SourceText.good(), new)
        #expect(lines.count == 1)
        #expect(lines.allSatisfy { $0.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control } })
    }
}
