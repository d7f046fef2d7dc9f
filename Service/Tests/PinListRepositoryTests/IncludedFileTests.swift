// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import PinListRepository
import Testing

@Suite("Files that a source includes")
struct IncludedFileTests {
    private static func entry(_ host: String) -> String { "domains: [{domain: \(host), mode: off}]\n" }

    @Test("they are beside the file that includes them, and come after it in their order")
    func theyAreBesideTheFileThatIncludesThemAndComeAfterItInTheirOrder() throws {
        let source = try SourceText.read(
            "name: a\ninclude: [teams/b.yaml, c.yaml]\n" + Self.entry("a.example"),
            [
                "teams/b.yaml": "include: deep/d.yaml\n" + Self.entry("b.example"),
                "teams/deep/d.yaml": Self.entry("d.example"), "c.yaml": Self.entry("c.example"),
            ])
        #expect(source.domains.map { "\($0.host)" } == ["a.example", "b.example", "d.example", "c.example"])
    }

    @Test("nothing is overridden, and errors name the included file")
    func nothingIsOverriddenAndErrorsNameTheIncludedFile() {
        let main = "name: a\ninclude: [b.yaml]\n" + Self.entry("a.example")
        SourceText.expectRefusal(main, at: "tumbler.yaml:2:11", "b.yaml: no such file")
        SourceText.expectRefusal(main, ["b.yaml": "validFor: 1d"], at: "b.yaml:1:1", "validFor", "tumbler.yaml")
        SourceText.expectRefusal(main, ["b.yaml": "domain: []"], at: "b.yaml:1:1", "write domains")
        SourceText.expectRefusal(main, ["b.yaml": Self.entry("a.example")], at: "b.yaml:1:20", "tumbler.yaml:3:20")
        SourceText.expectRefusal(main, ["b.yaml": "domains: [{domain: x.example}]"], at: "b.yaml:1:11", "no pin")
        SourceText.expectRefusal(main, ["b.yaml": "["], at: "b.yaml:1:2", "not YAML")
    }

    @Test("a circle is refused, however it is written")
    func circleIsRefusedHoweverItIsWritten() {
        let main = "name: a\ninclude: [b.yaml]\n"
        SourceText.expectRefusal(main, ["b.yaml": "include: [b.yaml]"], at: "b.yaml:1:11", "already")
        SourceText.expectRefusal(main, ["b.yaml": "include: [./tumbler.yaml]"], at: "b.yaml:1:11", "circle")
        SourceText.expectRefusal(main, ["b.yaml": "include: [x/../b.yaml]"], at: "b.yaml:1:11", "already")
        SourceText.expectRefusal(
            "name: a\ninclude: [b.yaml, b.yaml]", ["b.yaml": "domains: []"], at: "tumbler.yaml:2:19", "already")
    }

    @Test("more files than a source may have")
    func moreFilesThanASourceMayHave() {
        var files: [String: String] = [:]
        for index in 1...70 { files["\(index).yaml"] = "include: [\(index + 1).yaml]" }
        SourceText.expectRefusal("name: a\ninclude: [1.yaml]", files, at: "63.yaml:1:11", "64 files")
    }
}
