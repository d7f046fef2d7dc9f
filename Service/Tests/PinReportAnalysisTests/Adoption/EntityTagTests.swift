// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PinReportAnalysis

@Suite("The tags of a client in If-None-Match")
struct EntityTagTests {
    @Test("strong and weak tags, lists of them, and what proxies make of them")
    func strongAndWeakTagsListsOfThemAndWhatProxiesMakeOfThem() {
        let tag = EntityTag(digest: "ab12")
        #expect(tag.text == "\"ab12\"")
        for field in ["\"ab12\"", "W/\"ab12\"", "\"ab12-gzip\"", " W/\"ab12-gzip\" ", "\"x\", \"ab12\""] {
            #expect(EntityTag.tags(in: field)?.contains(tag) == true, "\(field)")
        }
    }

    @Test("an invalid tag is as if it were absent", arguments: ["", "ab12", "\"ab12", "\"a\"b\"", "\"a\",", "*"])
    func invalidTagIsAsIfItWereAbsent(field: String) { #expect(EntityTag.tags(in: field) == nil) }
}
