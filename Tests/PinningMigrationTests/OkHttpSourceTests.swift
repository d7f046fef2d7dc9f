// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
@_spi(Tools) import PinningMigration
import Testing

@Suite("OkHttp's pins, out of Kotlin and Java")
struct OkHttpSourceTests {
    private typealias Sample = TrustKitConfiguration

    private static func migrated(_ text: String) throws -> MigratedPins {
        try MigratedPins(okHttpSource: Array(text.utf8))
    }

    private static func pin(_ letter: Character) -> String { "sha256/\(Sample.hash(letter))" }

    @Test("Kotlin, with comments that hold pins, and calls of add that are none")
    func kotlinWithCommentsThatHoldPinsAndCallsOfAddThatAreNone() throws {
        let migrated = try Self.migrated(
            """
            val certificatePinner = CertificatePinner.Builder()
                // .add("old.example.com", "\(Self.pin("x"))")
                /* .add("older.example.com", "\(Self.pin("x"))") */
                .add("api.example.com", "\(Self.pin("a"))", "\(Self.pin("b"))")
                .add(pattern = "**.example.org", pins = arrayOf("\(Self.pin("c"))", "sha256/" + "\(Sample.hash("d"))"))
                .build()
            list.add("text"); list.add(7, '"'); set.add("a", "b")
            """)
        #expect(migrated.warnings.isEmpty, "\(migrated.warnings)")
        #expect(migrated.domains.map(\.domain.description) == ["api.example.com", "example.org"])
        #expect(migrated.domains.map(\.includeSubdomains) == [false, true])
        #expect(try migrated.entry("api.example.com")?.written == ["any \(Self.pin("a"))", "any \(Self.pin("b"))"])
        #expect(try migrated.entry("example.org")?.written == ["any \(Self.pin("c"))", "any \(Self.pin("d"))"])
    }

    @Test("Java, and a call for each pin: they are one set")
    func javaAndACallForEachPinTheyAreOneSet() throws {
        let migrated = try Self.migrated(
            """
            CertificatePinner pinner = new CertificatePinner.Builder()
                .add("api.example.com", "\(Self.pin("a"))")
                .add("api.example.com", "\(Self.pin("b"))").build();
            """)
        #expect(migrated.domains[0].pins.count == 2 && migrated.warnings.isEmpty)
    }

    @Test("exactly one label cannot be said here: it becomes all subdomains, with a warning")
    func exactlyOneLabelCannotBeSaidHereItBecomesAllSubdomainsWithAWarning() throws {
        let migrated = try Self.migrated(".add(\"*.example.com\", \"\(Self.pin("a"))\", \"\(Self.pin("b"))\")")
        #expect(migrated.domains[0].domain.description == "example.com" && migrated.domains[0].includeSubdomains)
        #expect(migrated.warned == ["*. stricter"])
    }

    @Test("OkHttp joins the pins of all patterns that match: so do the entries, or users would be locked out")
    func okHttpJoinsThePinsOfAllPatternsThatMatchSoDoTheEntries() throws {
        let migrated = try Self.migrated(
            """
            .add("**.example.com", "\(Self.pin("a"))", "\(Self.pin("b"))")
            .add("*.example.com", "\(Self.pin("c"))")
            .add("api.example.com", "\(Self.pin("d"))")
            .add("**.deep.api.example.com", "\(Self.pin("e"))")
            """)
        func letters(_ host: String) throws -> String {
            String(try #require(try migrated.entry(host)).pins.compactMap { "\($0.pin)".dropFirst(7).first }.sorted())
        }
        #expect(try letters("example.com") == "abc")
        #expect(try letters("api.example.com") == "abcd")
        #expect(try letters("deep.api.example.com") == "abe")
        #expect(migrated.warned == ["add weaker"])
    }

    @Test("pins that are only known when the program runs, SHA-1, and no pins: named, and nothing opens")
    func pinsThatAreOnlyKnownWhenTheProgramRunsSHA1AndNoPinsNamedAndNothingOpens() throws {
        let migrated = try Self.migrated(
            """
            CertificatePinner.Builder().add("a.example.com", PIN, "\(Self.pin("a"))", "\(Self.pin("b"))")
              .add(HOST, "\(Self.pin("a"))").add("b.example.com", "sha1/AAAA", "sha256/$pin").add("c.example.com", "md5/x")
              .add("bücher.example", "\(Self.pin("a"))").add("*.192.0.2.1", "\(Self.pin("a"))").build()
            """)
        #expect(migrated.domains.map(\.domain.description) == ["a.example.com", "b.example.com", "c.example.com"])
        #expect(migrated.domains.map(\.pins.count) == [2, 0, 0])
        #expect(
            migrated.warned == [
                "add stricter", "add weaker", "add stricter", "add stricter", "add stricter", "add weaker",
                "add weaker",
                "add stricter", "add stricter",
            ])
    }

    @Test("constants are read wherever they stand: below their use, in another class, in pieces")
    func constantsAreReadWhereverTheyStandBelowTheirUseInAnotherClassInPieces() throws {
        let kotlin = try Self.migrated(
            """
            class Client {
                val pinner = CertificatePinner.Builder().add(HOST, PIN, Pins.BACKUP).add(Companion.OTHER, PIN, Copied.BACKUP).build()
                companion object {
                    private const val HOST = "api.example.com"
                    const val OTHER: String = "api." + "example.org"
                    private const val PIN = "sha256/" + "\(Sample.hash("a"))"
                }
            }
            object Pins { const val BACKUP = "\(Self.pin("b"))" }
            object Copied { const val BACKUP = "\(Self.pin("b"))" }
            """)
        #expect(kotlin.warnings.isEmpty, "\(kotlin.warnings)")
        #expect(kotlin.domains.map(\.domain.description) == ["api.example.com", "api.example.org"])
        for domain in kotlin.domains {
            #expect(domain.written == ["any \(Self.pin("a"))", "any \(Self.pin("b"))"])
        }
        let java = try Self.migrated(
            """
            CertificatePinner pinner = new CertificatePinner.Builder().add(HOST, PIN).add(HOST, BACKUP).build();
            private static final String HOST = "api.example.com";
            static final String PIN = "\(Self.pin("a"))"; final static String BACKUP = "\(Self.pin("b"))";
            """)
        #expect(java.warnings.isEmpty && java.domains == kotlin.domains.filter { "\($0.domain)" == "api.example.com" })
    }

    @Test("a name that stands for more than one constant is not guessed: the call is named")
    func nameThatStandsForMoreThanOneConstantIsNotGuessedTheCallIsNamed() throws {
        let call = ".add(\"api.example.com\", PIN, \"\(Self.pin("b"))\").build()"
        for other in [
            "const val PIN = \"\(Self.pin("c"))\"", "val PIN = load()", "var PIN = \"\"", "String PIN = load();",
            "const val PIN = \"\(Self.pin("c"))\".trim()", "val PIN: String? = load()", "val PIN get() = load()",
            "fun pin(PIN: String) = b", "void pin(String PIN) {}", "val c = { h, PIN -> b }", "for ((h, PIN) in all) b",
            "val (h, PIN) = load()",
        ] {
            let constant = "const val PIN = \"\(Self.pin("a"))\""
            for text in ["\(constant)\n\(other)", "\(other)\n\(constant)"] {
                let migrated = try Self.migrated("CertificatePinner.Builder()\(call)\n\(text)")
                #expect(try migrated.entry("api.example.com")?.written == ["any \(Self.pin("b"))"], "\(other)")
                #expect(migrated.warned.contains("add stricter") && migrated.warned.contains("add weaker"), "\(other)")
            }
        }
    }

    @Test("a name alone is not that of a constant of another type: it may be one of another file")
    func nameAloneIsNotThatOfAConstantOfAnotherTypeItMayBeOneOfAnotherFile() throws {
        let calls = ".add(HOST, PIN).add(\"api.example.org\", \"\(Self.pin("b"))\", \"\(Self.pin("c"))\").build()"
        let constants = "const val HOST = \"staging.example.com\"; const val PIN = \"\(Self.pin("a"))\""
        for other in ["object Staging { \(constants) }", "class Staging { companion object { \(constants) } }"] {
            let migrated = try Self.migrated("class Client { val p = CertificatePinner.Builder()\(calls) }\n\(other)")
            #expect(migrated.domains.map(\.domain.description) == ["api.example.org"])
            #expect(migrated.warned == ["add weaker", "add weaker"])
        }
    }

    @Test("pins behind another builder's build are read, or named: none is dropped without a word")
    func pinsBehindAnotherBuildersBuildAreReadOrNamedNoneIsDroppedWithoutAWord() throws {
        let other = "val request = Request.Builder().build()"
        let constants = "const val HOST = \"api.example.com\"\nconst val PIN = \"\(Self.pin("a"))\""
        let both = "\"\(Self.pin("a"))\", \"\(Self.pin("b"))\""
        for builder in [
            "val b = CertificatePinner.Builder()", "CertificatePinner.Builder b = new CertificatePinner.Builder();",
        ] {
            let calls = "b.add(HOST, PIN).add(HOST, \"\(Self.pin("b"))\")"
            let read = try Self.migrated("\(builder)\n\(other)\n\(calls)\n\(constants)")
            #expect(read.warnings.isEmpty && read.domains.map(\.pins.count) == [2], "\(read.warnings)")
            // Of these calls only the running program knows what they add.
            let loop = "for ((host, pin) in more) b.add(host, pin).add(host, pin)"
            let named = try Self.migrated("\(builder)\nb.add(\"api.example.org\", \(both)).build()\n\(other)\n\(loop)")
            #expect(named.warned == ["add weaker", "add weaker"] && named.domains.count == 1)
        }
        // A list of pins that a loop adds.
        let listed = try Self.migrated(
            """
            CertificatePinner.Builder().add("api.example.org", \(both)).build()
            val PINS = arrayOf("\(Self.pin("c"))", "\(Self.pin("d"))")
            """)
        #expect(listed.warned == ["add weaker"] && listed.domains.count == 1)
        #expect(listed.warnings[0].message.contains("\(Self.pin("c"))\", and 1 more"))
    }

    @Test(
        "the pin of a debug branch or of another builder is joined with those of production, and said",
        arguments: [
            "val b = CertificatePinner.Builder().add(H, A)\nif (BuildConfig.DEBUG) b.add(H, P)",
            "val b = CertificatePinner.Builder()\nif (BuildConfig.DEBUG) b.add(H, P)\nb.add(H, A)",
            "CertificatePinner.Builder b = new CertificatePinner.Builder(); b.add(H, A); if (DEBUG) { b.add(H, P); }",
            "switch (flavour) { case DEBUG: b.add(H, P); default: b.add(H, A); } CertificatePinner.Builder b;",
            "val p = (if (DEBUG) CertificatePinner.Builder().add(H, P) else CertificatePinner.Builder().add(H, A)).build()",
            "val p = CertificatePinner.Builder().apply { if (DEBUG) add(H, P)\nadd(H, A) }.build()",
            "val p = CertificatePinner.Builder().add(H, A).let { if (DEBUG) it.add(H, P) else it }.build()",
            "val b = CertificatePinner.Builder().add(\"**.example.com\", A)\nif (DEBUG) b.add(H, P)",
            "val b = CertificatePinner.Builder().add(H, A)\nval other = CertificatePinner.Builder().add(H, P)",
        ])
    func pinOfADebugBranchOrOfAnotherBuilderIsJoinedWithThoseOfProductionAndSaid(_ program: String) throws {
        let migrated = try Self.migrated(
            program.replacing("H,", with: "\"api.example.com\",").replacing("A)", with: "\"\(Self.pin("a"))\")")
                .replacing("P)", with: "\"\(Self.pin("p"))\")"))
        #expect(try migrated.entry("api.example.com")?.pins.count == 2)
        let warned = migrated.warnings.filter { $0.message.contains("one chain") }
        #expect(warned.map(\.effect) == [.weaker] && warned.map(\.domain) == ["api.example.com"])
    }

    @Test("a debug pin beside one of production that is not known is said, though it stands alone")
    func debugPinBesideOneOfProductionThatIsNotKnownIsSaidThoughItStandsAlone() throws {
        let migrated = try Self.migrated(
            "val b = CertificatePinner.Builder().add(\"a.example.com\", secret())\n"
                + "if (DEBUG) b.add(\"a.example.com\", \"\(Self.pin("p"))\")")
        #expect(migrated.warned == ["add stricter", "add weaker", "add same"])
    }

    @Test(
        "calls that are always made together are one set, without a warning",
        arguments: [
            "val b = CertificatePinner.Builder()\nb.add(H, A)\nb.add(H, B)",
            "CertificatePinner.Builder b = new CertificatePinner.Builder(); b.add(H, A); b.add(H, B); b.build();",
            "val p = CertificatePinner.Builder().apply { add(H, A)\nadd(H, B) }.build()",
            "if (pins) { b.add(H, A); b.add(H, B).add(H, A); } CertificatePinner.Builder b;",
            "val b = CertificatePinner.Builder().add(H, A, B)\nval other = CertificatePinner.Builder().add(H, B, A)",
        ])
    func callsThatAreAlwaysMadeTogetherAreOneSetWithoutAWarning(_ program: String) throws {
        let migrated = try Self.migrated(
            program.replacing("H,", with: "\"api.example.com\",").replacing("A", with: "\"\(Self.pin("a"))\"")
                .replacing("B)", with: "\"\(Self.pin("b"))\")").replacing("B,", with: "\"\(Self.pin("b"))\","))
        #expect(migrated.warnings.isEmpty && migrated.domains.map(\.pins.count) == [2], "\(migrated.warnings)")
    }

    @Test("text without an end, deep brackets, every prefix of a program: no crash, and no pin out of nowhere")
    func textWithoutAnEndDeepBracketsEveryPrefixOfAProgramNoCrashAndNoPinOutOfNowhere() throws {
        let program = "/* x */ \"\"\"raw\"\"\" '\\u0022' // y\nB.add(\"api.example.com\", \"\(Self.pin("a"))\")"
        for length in 0..<program.utf8.count {
            let part = try? MigratedPins(okHttpSource: Array(program.utf8.prefix(length)))
            #expect((part?.domains.count ?? 0) <= 1)
        }
        #expect(throws: MigrationError(.nothingPinned, "", hint: "")) {
            try Self.migrated("add(" + String(repeating: "(", count: 200_000))
        }
        #expect(throws: MigrationError(.tooLarge, "", hint: "")) {
            try Self.migrated(String(repeating: "add(", count: 50_000))
        }
        #expect(throws: MigrationError(.nothingPinned, "", hint: "")) { try Self.migrated("\"\"\"") }
        #expect(throws: MigrationError(.tooLarge, "", hint: "")) {
            try Self.migrated(String(repeating: "a ", count: 600_000))
        }
    }
}
