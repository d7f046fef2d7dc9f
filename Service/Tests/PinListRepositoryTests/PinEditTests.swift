// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListRepository
import PinRotation
import Testing

@Suite("The pins of a rotation in a source, by whole lines")
struct PinEditTests {
    private static let new = Pin(kind: .publicKey, hashing: [1])
    private static let old = Pin(kind: .publicKey, hashing: [2])
    private static let backup = Pin(kind: .publicKey, hashing: [3])

    /// Sources in which the old pin is written in the ways in which people write it.
    private static let layouts: [String: String] = {
        let head = "# ours\nname: com.example.app\n"
        let entry = "\(head)domains:\n  - domain: api.example.com   # the API\n"
        return [
            "block":
                "\(entry)    pins:\n      # in use\n      - {pin: \"\(old)\", note: a}   # one\n      - pin: \"\(backup)\"\n\n# end\n",
            "block without indentation":
                "\(entry)    pins:\n    - pin: \"\(old)\"\n      note: a # x\n    - pin: \"\(backup)\"\n    mode: report\n",
            "flow": "\(entry)    pins: [{pin: \"\(old)\"}, {pin: \"\(backup)\"}]  # both\n",
            "all in one line":
                "\(head)domains: [{domain: api.example.com, pins: [{pin: \"\(backup)\"}, {pin: \"\(old)\"}]}]\n",
            "flow over lines":
                "\(entry)    pins: [\n      # in use\n      {pin: \"\(old)\"},\n      {pin: \"\(backup)\"},\n    ]\n    mode: report\n",
            "pin set":
                "\(head)pinSets:\n  web:   # all\n    - {pin: \"\(old)\"}\n    - {pin: \"\(backup)\"}\ndomains:\n"
                + "  - {domain: api.example.com, use: [web]}\n  - {domain: pay.example.com, use: [web]}\n",
            "pin set in flow":
                "\(head)pinSets: {web: [{pin: \"\(old)\"}, {pin: \"\(backup)\"}]}\ndomains:\n"
                + "  - {domain: api.example.com, use: web}\n  - {domain: pay.example.com, use: web}\n",
        ]
    }()

    private static func plan(_ source: String, _ files: FilesInMemory) throws -> RotationPlan {
        let host = try HostName("api.example.com")
        let scope = try PinEdit("tumbler.yaml", files: files).scope(of: [Self.old], at: host)
        return RotationPlan(
            list: "com.example.app", host: host, entries: scope.entries, pinSet: scope.pinSet,
            new: PlannedKey(Self.new), old: [PlannedKey(Self.old)], timeline: RotationTimeline(from: SourceText.now),
            at: SourceText.now)
    }

    private static func lines(_ text: String) -> [Substring] {
        text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    @Test(
        "in every layout, with LF and CRLF: the new pin comes, the old one goes, and comments stay",
        arguments: layouts.keys.sorted())
    func inEveryLayoutWithLFAndCRLFTheNewPinComesTheOldOneGoesAndCommentsStay(name: String) throws {
        let layout = try #require(Self.layouts[name])
        for text in [layout, layout.replacing("\n", with: "\r\n")] {
            let files = FilesInMemory(["tumbler.yaml": text])
            let plan = try Self.plan(text, files)
            #expect(plan.entries.count == (name.hasPrefix("pin set") ? 2 : 1))
            #expect(plan.pinSet == (name.hasPrefix("pin set") ? "web" : nil))
            let announced = try PinEdit("tumbler.yaml", files: files).announcing(plan)
            #expect(announced.map(\.path) == ["tumbler.yaml"] && announced.first?.before == Array(text.utf8))
            let after = String(decoding: try #require(announced.first).after, as: UTF8.self)
            // At most the line of a list in one line is another one.
            #expect(Self.lines(after).difference(from: Self.lines(text)).removals.count <= 1)
            for comment in ["# ours", "# the API", "# in use", "# one", "# both", "# all", "# end"]
            where text.contains(comment) { #expect(after.contains(comment)) }

            let second = FilesInMemory(["tumbler.yaml": after])
            let edit = try PinEdit("tumbler.yaml", files: second)
            for domain in edit.source.domains {
                #expect(Set(domain.pins.map(\.known.pin)) == [Self.new, Self.old, Self.backup])
            }
            #expect(try edit.announcing(plan).isEmpty)
            // Aborted, it says what it said.
            let aborted = String(decoding: try #require(try edit.aborting(plan).first).after, as: UTF8.self)
            #expect(try SourceText.read(aborted) == SourceText.read(text))
            let retired = String(decoding: try #require(try edit.retiring(plan).first).after, as: UTF8.self)
            for domain in try SourceText.read(retired).domains {
                #expect(Set(domain.pins.map(\.known.pin)) == [Self.new, Self.backup])
            }
        }
    }

    @Test("an entry of an included file is edited there, and tumbler.yaml stays")
    func entryOfAnIncludedFileIsEditedThereAndTumblerYamlStays() throws {
        let head = "name: com.example.app\ninclude: [more.yaml]\ndomains: []\n"
        let more =
            "domains:\n  - domain: api.example.com\n    pins:\n      - {pin: \"\(Self.old)\"}   # here\n"
            + "      - {pin: \"\(Self.backup)\"}\n"
        let files = FilesInMemory(["tumbler.yaml": head, "more.yaml": more])
        let changes = try PinEdit("tumbler.yaml", files: files).announcing(try Self.plan(head, files))
        #expect(changes.map(\.path) == ["more.yaml"])
        let after = String(decoding: try #require(changes.first).after, as: UTF8.self)
        #expect(after.replacing("      - {pin: \"\(Self.new)\"}\n", with: "") == more)
    }

    @Test("the position of the old pin is that of the new one")
    func positionOfTheOldPinIsThatOfTheNewOne() throws {
        let text =
            "name: com.example.app\ndomains:\n  - domain: api.example.com\n    pins:\n"
            + "      - {pin: \"\(Self.old)\", position: leaf}\n      - {pin: \"\(Self.backup)\", position: leaf}\n"
        let files = FilesInMemory(["tumbler.yaml": text])
        var plan = try Self.plan(text, files)
        plan.new.position = .leaf
        let changes = try PinEdit("tumbler.yaml", files: files).announcing(plan)
        let after = String(decoding: try #require(changes.first).after, as: UTF8.self)
        #expect(after.contains("- {pin: \"\(Self.new)\", position: leaf}\n"))
    }

    @Test("a host without an entry, and a pin that the entry does not have, are refused with a hint")
    func hostWithoutAnEntryAndAPinThatTheEntryDoesNotHaveAreRefusedWithAHint() throws {
        let text = try #require(Self.layouts["block"])
        let edit = try PinEdit("tumbler.yaml", files: FilesInMemory(["tumbler.yaml": text]))
        #expect(throws: RepositoryError.self) { try edit.scope(of: [Self.old], at: HostName("apy.example.com")) }
        #expect(throws: RepositoryError.self) { try edit.scope(of: [Self.new], at: HostName("api.example.com")) }
        #expect(throws: RepositoryError.self) { try edit.scope(of: [], at: HostName("api.example.com")) }
    }

    @Test("the objections to a rotation: a denied key, and no backup afterwards")
    func objectionsToARotationADeniedKeyAndNoBackupAfterwards() throws {
        let text = try #require(Self.layouts["block"])
        let plan = try Self.plan(text, FilesInMemory(["tumbler.yaml": text]))
        #expect(try SourceText.read(text).objections(to: plan).isEmpty)
        let denied = try SourceText.read(text + "denied: [\"\(Self.new)\"]\n").objections(to: plan)
        #expect(denied.count == 1 && denied.first?.contains("denied") == true)
        let alone = try SourceText.read(text.replacing("      - pin: \"\(Self.backup)\"\n", with: ""))
        #expect(alone.objections(to: plan).count == 1)
        let pair = try SourceText.read(text.replacing("\(Self.backup)", with: "\(Self.new)"))
        #expect(pair.objections(to: plan).count == 1)
    }

    @Test("an announced pin that left the source speaks against the next step: the old pins would go, too")
    func announcedPinThatLeftTheSourceSpeaksAgainstTheNextStep() throws {
        let text = try #require(Self.layouts["block"])
        var plan = try Self.plan(text, FilesInMemory(["tumbler.yaml": text]))
        try plan.enter(RotationStep(.announced, at: plan.since))
        let lost = try SourceText.read(text).objections(to: plan)
        #expect(lost.count == 1 && lost.first?.contains("\(Self.new)") == true, "\(lost)")
        let backup = "      - pin: \"\(Self.backup)\"\n"
        let both = try SourceText.read(text.replacing(backup, with: "\(backup)      - pin: \"\(Self.new)\"\n"))
        #expect(both.objections(to: plan).isEmpty)
    }

    @Test("a pin of a certificate, new or old, speaks against a rotation: no look would ever see it")
    func pinOfACertificateNewOrOldSpeaksAgainstARotation() throws {
        let text = try #require(Self.layouts["block"])
        let plan = try Self.plan(text, FilesInMemory(["tumbler.yaml": text]))
        let pin = Pin(kind: .certificate, hashing: [4])
        var (coming, going) = (plan, plan)
        coming.new = PlannedKey(pin)
        going.old.append(PlannedKey(pin))
        for plan in [coming, going] {
            #expect(plan.pinsOfCertificates == [pin])
            let objections = try SourceText.read(text).objections(to: plan)
            #expect(objections.count == 1 && objections.first?.contains("\(pin)") == true, "\(objections)")
        }
        #expect(plan.pinsOfCertificates.isEmpty)
    }
}
