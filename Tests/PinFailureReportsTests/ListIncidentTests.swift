// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinFailureReports
import PinListMetadata
import PinningTesting
import Testing

@Suite("A list incident as a report")
struct ListIncidentTests {
    private func json(_ report: Report?) throws -> [String: Any] {
        let report = try #require(report)
        return try #require(try JSONSerialization.jsonObject(with: Data(report.body)) as? [String: Any])
    }

    @Test("equivocation: the code, and the envelope as evidence")
    func equivocationTheCodeAndTheEnvelopeAsEvidence() throws {
        var repository = try RepositorySimulator(at: Scene.start)
        var client = try TrustState(bundledRoot: repository.roots[0], bundledList: repository.lists[0])
        let other = try repository.publishList {
            $0.version = 1
            $0.unlisted = .report
        }
        let refusal = try #require(throws: MetadataError.self) { try client.accept(list: other, at: Scene.start) }
        var list = ReportedList(try #require(client.inForce).held)
        #expect(list.reportTo == [])
        list.reportTo = [Scene.collector]
        let object = try self.json(Report(refusal, of: other, list: list, app: Scene.app, at: Scene.start))
        #expect(
            Set(object.keys) == [
                "date-time", "app-bundle-id", "app-version", "app-platform", "app-platform-version", "tumbler",
            ])
        let ours = try #require(object["tumbler"] as? [String: Any])
        #expect(Set(ours.keys) == ["list-name", "list-version", "list-digest", "reason", "envelope"])
        #expect(ours["reason"] as? String == "equivocation")
        #expect(ours["list-digest"] as? String == Envelope.digest(of: repository.lists[0]))
        #expect(Data(base64Encoded: try #require(ours["envelope"] as? String)) == Data(other))
    }

    @Test("an unsigned envelope is no evidence and is not sent")
    func unsignedEnvelopeIsNoEvidenceAndIsNotSent() throws {
        let refusal = MetadataError(.pins, .unsigned, "x")
        let ours =
            try self.json(Report(refusal, of: [1, 2, 3], list: Scene.list, app: Scene.app, at: Scene.start))[
                "tumbler"] as? [String: Any]
        #expect(ours.map { Set($0.keys) } == ["list-name", "list-version", "list-digest", "reason"])
        #expect(ours?["reason"] as? String == "unsigned")
    }

    @Test("a stale list; twice the same, and another one for another version")
    func staleListTwiceTheSameAndAnotherOneForAnotherVersion() throws {
        let first = try #require(Report(stale: Scene.list, app: Scene.app, at: Scene.start))
        let again = try #require(Report(stale: Scene.list, app: Scene.app, at: Scene.start.advanced(by: 1)))
        var list = Scene.list
        list.version = 8
        let next = try #require(Report(stale: list, app: Scene.app, at: Scene.start))
        #expect(first.identity == again.identity)
        #expect(first.identity.id != next.identity.id)
        #expect(first.identity.kind == next.identity.kind)
    }
}
