// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinListMetadata
import Testing

@Suite(
    "Adding a post-quantum key, with clients that have ML-DSA and clients that do not",
    .enabled(if: ServedLists.python != nil, "python3 is not installed"))
struct PostQuantumPageTests {
    private static let page = "adding-a-post-quantum-key.md"

    @Test(
        "no client refuses anything on the way; then a list of the old key alone is refused by those with ML-DSA only"
    )
    func noClientRefusesAnythingOnTheWayThenAListOfTheOldKeyAloneIsRefused() async throws {
        try await PageStory.tell(Self.page) { story in
            #expect(story.refused.isEmpty, "\(story.refused)")
            #expect(story.visits > 20)
            #expect(Set(story.clients.map(\.isNew)) == [true, false])
            // A client that is up to date has root 2 and the last list.
            for isNew in [true, false] {
                let newest = story.clients.filter { $0.isNew == isNew }.map {
                    [$0.state.chain.newest.version, $0.state.inForce?.held.list.version ?? 0]
                }
                #expect(newest.contains([2, 5]), "\(newest)")
            }

            let forge = """
                tumbler build -o forged.payload
                tumbler sign forged.payload --root root/1.json --key keys/pins.pem \
                    --passphrase-env PINS_PASSPHRASE --yes -o classical.json
                tumbler sign forged.payload --root root/2.json --key keys/quantum.pem \
                    --passphrase-env QUANTUM_PASSPHRASE --yes -o quantum.json || test $? -eq 1
                tumbler combine classical.json quantum.json -o both.json
                """
            try await story.run(forge)
            // Some have not yet asked for the new root; the others are those of this page.
            let atRoot2 = story.atRoot(2)
            #expect(try atRoot2.answers(to: "classical.json") == [true: ["threshold-not-met"], false: ["newer"]])
            #expect(try atRoot2.answers(to: "quantum.json") == [true: ["threshold-not-met"], false: ["unsigned"]])
            #expect(try atRoot2.answers(to: "both.json") == [true: ["newer"], false: ["newer"]])

            // The claims of the page on verify, and the output of verify on the other two.
            let both = try await CommandRun.tumbler(Self.verify("both.json"), in: story.project)
            both.expectResult()
            #expect(both.lines.contains("root 2: 1 of 1 signatures"), "\(both)")
            #expect(both.lines.contains("root 2, hybrid: 1 of 1 signatures"), "\(both)")
            for file in ["classical.json", "quantum.json"] {
                let run = try await CommandRun.tumbler(Self.verify(file), in: story.project)
                #expect(run.exitCode == 1, "\(run)")
                #expect(run.lines.first?.hasPrefix("refused pins: threshold-not-met: ") == true, "\(run)")
            }
        }
    }

    private static func verify(_ file: String) -> [String] {
        ["verify", file, "--root", "root/1.json", "--root", "root/2.json"]
    }

    @Test("without the wait a client with ML-DSA sees the new root with the old list; one without notices nothing")
    func withoutTheWaitAClientWithMLDSASeesTheNewRootWithTheOldList() async throws {
        try await PageStory.tell(Self.page, waiting: false) { story in
            #expect(story.refused == [.init(isNew: true, kind: .pins, code: .thresholdNotMet)])
        }
    }
}
