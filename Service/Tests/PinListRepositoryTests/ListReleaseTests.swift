// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinListRepository
import Testing

@Suite("A program of its own releases a list")
struct ListReleaseTests {
    private struct Refusal: Error {}

    /// A destination that is told how publishing ends, and keeps nothing.
    private struct Destination: ReleaseDestination {
        var current: PinList?
        var servedEnvelope: [UInt8]?
        let outcome: PublishingOutcome
        /// What happens while it is asked to publish.
        var during: @Sendable () -> Void = {}

        func publish(_ publication: Publication, logs: [UInt8]?) async -> PublishingOutcome {
            self.during()
            return publication.files.map(\.name) == ["root/1.json", "pins.json"] ? self.outcome : .refused(Refusal())
        }
    }

    private let signer: TestSigner

    init() throws { self.signer = try TestSigner.p256("pins") }

    /// A project folder with a signed root.
    private func project(in folder: URL) async throws -> ProjectFolder {
        let other = try TestSigner.p256("root")
        let root = try Root.sample(root: [other], pins: [self.signer])
        var ceremony = try SigningCeremony(try SignableMetadata(root.payload, named: "root"), under: [])
        try await ceremony.add(other)
        let project = ProjectFolder(folder)
        try ProjectFolder.write(try SignableMetadata.file(of: ceremony.envelope), to: project.root(1))
        return project
    }

    private func release(
        _ project: ProjectFolder, to destination: Destination?, at time: Timestamp = SourceText.now
    ) throws -> ListRelease {
        try ListRelease(try SourceText.read(SourceText.good()), in: project, to: destination, at: time)
    }

    @Test("without a destination: pins.json and lists/ hold the list, and the next one has the next version")
    func withoutADestinationPinsJSONAndListsHoldTheListAndTheNextOneHasTheNextVersion() async throws {
        try await withTemporaryFolder { folder in
            let project = try await self.project(in: folder)
            let first = try self.release(project, to: nil)
            #expect(try first.linter().root?.version == 1)
            let envelope = try await first.signed(by: [self.signer])
            #expect(try project.newestList() == nil, "nothing is written before publishing")
            let outcome = try await first.publish(envelope, isOut: true)
            #expect(outcome.changes == nil)
            #expect(outcome.notes.isEmpty)
            #expect(try project.newestList() == envelope)
            #expect(try ListHistory(of: project).records.map(\.version) == [1])
            let second = try self.release(project, to: nil)
            #expect(second.list.version == 2)
            #expect(second.published?.version == 1)
        }
    }

    @Test("a release from a machine whose clock is behind is refused before anything is signed, with what to do")
    func releaseFromAMachineWhoseClockIsBehindIsRefusedBeforeAnythingIsSigned() async throws {
        try await withTemporaryFolder { folder in
            let project = try await self.project(in: folder)
            let first = try self.release(project, to: nil)
            // Another checkout published it: here it is only served.
            let destination = Destination(current: first.list, outcome: .published([]))
            let behind = SourceText.now.later(-1)
            let served = #expect(throws: RepositoryError.self) {
                try self.release(project, to: destination, at: behind)
            }
            #expect(served?.code == .metadata && served?.hint?.contains("--at") == true)
            // It went out an hour after it was issued.
            let envelope = try await first.signed(by: [self.signer])
            _ = try await first.publish(envelope, isOut: false)
            try ListHistory.keep(envelope, in: project, publishedAt: SourceText.now.later(3_600))
            let recorded = #expect(throws: RepositoryError.self) { try self.release(project, to: nil) }
            #expect(recorded?.reason.contains("version 1 went out at") == true)
            #expect(try self.release(project, to: nil, at: SourceText.now.later(3_600)).list.version == 2)
        }
    }

    @Test("a missing signature, or one of a key that may not sign, stops it before anything is written")
    func missingSignatureOrOneOfAKeyThatMayNotSignStopsItBeforeAnythingIsWritten() async throws {
        try await withTemporaryFolder { folder in
            let project = try await self.project(in: folder)
            let release = try self.release(project, to: nil)
            let missing = await #expect(throws: RepositoryError.self) { try await release.signed(by: []) }
            #expect(missing?.reason.contains("signatures are missing: 1") == true)
            let stranger = try TestSigner.p256("stranger")
            await #expect(throws: RepositoryError.self) { try await release.signed(by: [stranger]) }
            #expect(try project.newestList() == nil)
        }
    }

    @Test("a destination that refuses leaves pins.json as it was; one whose answer is lost leaves the new list in it")
    func destinationThatRefusesLeavesPinsJSONAsItWasOneWhoseAnswerIsLostLeavesTheNewListInIt() async throws {
        try await withTemporaryFolder { folder in
            let project = try await self.project(in: folder)
            let first = try self.release(project, to: nil)
            let before = try await first.signed(by: [self.signer])
            _ = try await first.publish(before, isOut: true)

            let refused = try self.release(project, to: Destination(outcome: .refused(Refusal())))
            let envelope = try await refused.signed(by: [self.signer])
            let refusal = await #expect(throws: ReleaseError.self) { try await refused.publish(envelope, isOut: true) }
            #expect(refusal?.project == .unchanged)
            #expect(try project.newestList() == before)
            #expect(try ListHistory(of: project).records.map(\.version) == [1])

            let lost = try self.release(project, to: Destination(outcome: .unknown(Refusal())))
            let unclear = await #expect(throws: ReleaseError.self) { try await lost.publish(envelope, isOut: true) }
            #expect(unclear?.project == .newList)
            #expect(try project.newestList() == envelope)
            #expect(try ListHistory(of: project).records.map(\.version) == [1])
        }
    }

    @Test("a disk on which no list can be kept stops the release before anything goes out")
    func diskOnWhichNoListCanBeKeptStopsTheReleaseBeforeAnythingGoesOut() async throws {
        try await withTemporaryFolder { folder in
            let project = try await self.project(in: folder)
            let destination = Destination(
                outcome: .published(["list 1"]), during: { Issue.record("it was published") })
            let release = try self.release(project, to: destination)
            let envelope = try await release.signed(by: [self.signer])
            try folder.write("", as: "lists")
            let error = await #expect(throws: ReleaseError.self) { try await release.publish(envelope, isOut: true) }
            #expect(error?.project == .unchanged)
            #expect(try project.newestList() == nil)
        }
    }

    @Test("a disk that is full after the list went out: the error says that it is published")
    func diskThatIsFullAfterTheListWentOutTheErrorSaysThatItIsPublished() async throws {
        try await withTemporaryFolder { folder in
            let project = try await self.project(in: folder)
            // No line can be written there.
            let lines = folder.appendingPathComponent("lists/published.jsonl")
            let destination = Destination(
                outcome: .published(["list 1"]),
                during: { try? FileManager.default.createDirectory(at: lines, withIntermediateDirectories: true) })
            let release = try self.release(project, to: destination)
            let envelope = try await release.signed(by: [self.signer])
            let error = await #expect(throws: ReleaseError.self) { try await release.publish(envelope, isOut: true) }
            #expect(error?.project == .published)
            #expect(error?.reason is RepositoryError)
            #expect(try project.newestList() == envelope)
        }
    }

    @Test("a release that is killed while the service hangs keeps its list, and so does the next one")
    func releaseThatIsKilledWhileTheServiceHangsKeepsItsList() async throws {
        try await withTemporaryFolder { folder in
            var place = folder.appendingPathComponent("0")
            let first = try self.release(try await self.project(in: place), to: nil)
            _ = try await first.publish(try await first.signed(by: [self.signer]), isOut: true)
            for version in 2...3 {
                // A kill leaves what is there while the service is asked.
                let killed = folder.appendingPathComponent("\(version)")
                let destination = Destination(
                    outcome: .published([]),
                    during: { [place] in try? FileManager.default.copyItem(at: place, to: killed) })
                let release = try self.release(ProjectFolder(place), to: destination)
                let envelope = try await release.signed(by: [self.signer])
                _ = try await release.publish(envelope, isOut: true)
                #expect(try ProjectFolder(killed).newestList() == envelope)
                #expect(try killed.contents(of: "lists/\(version).json") == Data(envelope))
                #expect(
                    try ListHistory(of: ProjectFolder(killed)).records.map(\.version) == [1],
                    "it is not known to be out")
                place = killed
            }
            let held = try HeldLists(
                of: ProjectFolder(place), and: nil, propagation: 86_400, at: SourceText.now, notMeasured: "")
            #expect(held.versions == [1, 2, 3] && held.missing.isEmpty)
        }
    }

    /// The tree of a static host at which no list can be written.
    private func block(_ www: URL) throws -> URL {
        let place = www.appendingPathComponent("v1/lists/com.example.app/pins.json")
        try? FileManager.default.removeItem(at: place)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        return place
    }

    @Test("an export that fails leaves the project as it was, and the next release has the same version")
    func exportThatFailsLeavesTheProjectAsItWas() async throws {
        try await withTemporaryFolder { folder in
            let project = try await self.project(in: folder)
            let www = folder.appendingPathComponent("www")
            let first = try self.release(project, to: nil)
            let before = try await first.signed(by: [self.signer])
            _ = try await first.publish(before, isOut: true, exportTo: www)
            let place = try self.block(www)
            let release = try self.release(project, to: nil)
            let envelope = try await release.signed(by: [self.signer])
            let error = await #expect(throws: ReleaseError.self) {
                try await release.publish(envelope, isOut: true, exportTo: www)
            }
            #expect(error?.project == .unchanged)
            #expect(try project.newestList() == before)
            #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("lists/2.json").path))
            #expect(try ListHistory(of: project).records.map(\.version) == [1])

            try FileManager.default.removeItem(at: place)
            let later = try self.release(project, to: nil, at: SourceText.now.later(60))
            _ = try await later.publish(try await later.signed(by: [self.signer]), isOut: true, exportTo: www)
            #expect(try ListHistory(of: project).records.map(\.version) == [1, 2])
        }
    }

    @Test("an export that fails when the list is in the folder already is one of a list that is published")
    func exportThatFailsWhenTheListIsInTheFolderAlreadyIsOneOfAListThatIsPublished() async throws {
        try await withTemporaryFolder { folder in
            let project = try await self.project(in: folder)
            let www = folder.appendingPathComponent("www")
            // The roots come after the list, and cannot be written there.
            let base = www.appendingPathComponent("v1/lists/com.example.app")
            try FileManager.default.createDirectory(at: base, withIntermediateDirectories: true)
            try base.write("", as: "root")
            let release = try self.release(project, to: nil)
            let envelope = try await release.signed(by: [self.signer])
            let error = await #expect(throws: ReleaseError.self) {
                try await release.publish(envelope, isOut: true, exportTo: www)
            }
            #expect(error?.project == .published)
            #expect(try base.contents(of: "pins.json") == Data(envelope))
            #expect(try project.newestList() == envelope)
            #expect(try folder.contents(of: "lists/1.json") == Data(envelope))
        }
    }

    @Test(
        "a folder that is served and is ahead of the project stops the release before anything goes out or is written")
    func folderThatIsAheadOfTheProjectStopsTheReleaseBeforeAnythingGoesOut() async throws {
        try await withTemporaryFolder { folder in
            let project = try await self.project(in: folder)
            let www = folder.appendingPathComponent("www")
            var envelopes: [[UInt8]] = []
            for _ in 1...3 {
                let release = try self.release(project, to: nil)
                let envelope = try await release.signed(by: [self.signer])
                _ = try await release.publish(envelope, isOut: true, exportTo: www)
                envelopes.append(envelope)
            }
            // The checkout of another person, who did not see the last two.
            try ProjectFolder.write(envelopes[0], to: project.list)
            for destination in [nil, Destination(outcome: .published(["list 2"]))] {
                let late = try self.release(project, to: destination)
                #expect(late.list.version == 2)
                let envelope = try await late.signed(by: [self.signer])
                let error = await #expect(throws: RepositoryError.self) {
                    try await late.publish(envelope, isOut: true, exportTo: www)
                }
                #expect(error?.reason.contains("is version 3, and this list is version 2") == true)
                #expect(try project.newestList() == envelopes[0])
            }
        }
    }

    @Test("a destination that has a newer list than the project: the next version comes after that one, which is kept")
    func destinationThatHasANewerListThanTheProjectTheNextVersionComesAfterThatOneWhichIsKept() async throws {
        try await withTemporaryFolder { folder in
            let project = try await self.project(in: folder)
            let elsewhere = try self.release(project, to: nil)
            let served = try await elsewhere.signed(by: [self.signer])
            var list = elsewhere.list
            list.version = 6
            let destination = Destination(
                current: list, servedEnvelope: served, outcome: .published(["list 7"]))
            let release = try self.release(project, to: destination)
            #expect(release.list.version == 7)
            #expect(release.published?.version == 6)
            #expect(release.listOfProject == nil)
            let envelope = try await release.signed(by: [self.signer])
            #expect(try await release.publish(envelope, isOut: true).changes == ["list 7"])
            #expect(try folder.contents(of: "lists/1.json") == Data(served))
            #expect(try folder.contents(of: "lists/7.json") == Data(envelope))
        }
    }

    /// Whether lint says of a release that another checkout released what is served.
    private static func isBehind(_ release: ListRelease) throws -> Bool {
        try release.linter().findings.contains { $0.rule == .checkoutBehind }
    }

    @Test("a checkout that has not got the served list is behind, whatever its own version is; one that has it is not")
    func checkoutThatHasNotGotTheServedListIsBehindWhateverItsOwnVersionIs() async throws {
        try await withTemporaryFolder { folder in
            let mine = try await self.project(in: folder.appendingPathComponent("mine"))
            let late = ProjectFolder(folder.appendingPathComponent("late"))
            let first = try self.release(mine, to: nil)
            let envelope = try await first.signed(by: [self.signer])
            _ = try await first.publish(envelope, isOut: true)
            try FileManager.default.copyItem(at: mine.folder, to: late.folder)
            let second = try self.release(mine, to: nil)
            let served = try await second.signed(by: [self.signer])
            _ = try await second.publish(served, isOut: true)

            let destination = Destination(current: second.list, servedEnvelope: served, outcome: .published([]))
            #expect(try !Self.isBehind(self.release(mine, to: destination)))
            #expect(try Self.isBehind(self.release(late, to: destination)))
            // An old pins.json beside lists/ that has the list.
            try ProjectFolder.write(envelope, to: mine.list)
            #expect(try !Self.isBehind(self.release(mine, to: destination)))
            // Its own lists of version 2 and 3, which went nowhere.
            for seconds in [Int64(60), 120] {
                let time = SourceText.now.later(seconds)
                let other = try self.release(late, to: nil, at: time)
                _ = try await other.publish(try await other.signed(by: [self.signer]), isOut: false)
                #expect(try Self.isBehind(self.release(late, to: destination, at: time)))
            }
            let now = SourceText.now.later(120)
            // Of a list from before lists were kept nothing is known.
            try FileManager.default.removeItem(at: late.folder.appendingPathComponent("lists"))
            #expect(try !Self.isBehind(self.release(late, to: destination, at: now)))
            // Nothing is here at all.
            try FileManager.default.removeItem(at: late.list)
            #expect(try Self.isBehind(self.release(late, to: destination, at: now)))
        }
    }

    @Test("a list that another checkout published under a version that is kept here is written down as theirs")
    func listThatAnotherCheckoutPublishedUnderAVersionThatIsKeptHereIsWrittenDownAsTheirs() async throws {
        try await withTemporaryFolder { folder in
            let project = try await self.project(in: folder)
            let first = try self.release(project, to: nil)
            _ = try await first.publish(try await first.signed(by: [self.signer]), isOut: true)
            let source = try SourceText.read(SourceText.good(list: "refreshAfter: 1h"))
            let theirs = try ListRelease(source, in: project, to: nil, at: SourceText.now)
            let served = try await theirs.signed(by: [self.signer])
            let own = try self.release(project, to: nil)
            _ = try await own.publish(try await own.signed(by: [self.signer]), isOut: false)

            let destination = Destination(
                current: theirs.list, servedEnvelope: served, outcome: .published(["list 3"]))
            let next = try self.release(project, to: destination)
            let outcome = try await next.publish(try await next.signed(by: [self.signer]), isOut: true)
            #expect(outcome.notes.count == 1)
            let records = try ListHistory(of: project).records
            #expect(records.map(\.version) == [1, 2, 3] && records[1].digest == Envelope.digest(of: served))
            let held = try HeldLists(
                of: project, and: nil, propagation: 86_400, at: SourceText.now, notMeasured: "there is no service")
            #expect(held.missing == ["version 2"])
        }
    }
}
