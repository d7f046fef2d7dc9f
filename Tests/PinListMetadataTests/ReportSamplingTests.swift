// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinningTesting
import Testing

@testable import PinListMetadata

@Suite("How many installations report")
struct ReportSamplingTests {
    private static let host = "api.example.com"

    private func list(_ share: Int64, domain: Int64? = nil) throws -> PinList {
        var entry = try Story.entry(Self.host)
        entry.reportPerMillion = domain
        return PinList(
            name: "com.example.app", version: 7, issuedAt: Story.start, expiresAt: Story.after(days: 60),
            reportPerMillion: share, domains: [entry])
    }

    private func installations(_ count: Int, seed: UInt64 = 17) throws -> [InstallationID] {
        var random = SeededGenerator(seed: seed)
        return try (0..<count).map { _ in try #require(InstallationID(random.bytes(16))) }
    }

    @Test(
        "an installation's place on a day is what Python makes of the specification",
        .enabled(if: Python.installed != nil, "there is no python3 on PATH to compare with"))
    func installationsPlaceOnADayIsWhatPythonMakesOfTheSpecification() async throws {
        var random = SeededGenerator(seed: 12)
        var (lines, places): ([String], [String]) = ([], [])
        for number in 0..<500 {
            let bytes = number == 0 ? [UInt8](repeating: 0, count: 16) : random.bytes(16)
            let id = try #require(InstallationID(bytes))
            let host = number % 7 == 0 ? nil : try HostName("host-\(random.next() % 1_000).example.com")
            let time = Story.start.advanced(by: Int64(number) * 40_000)
            lines.append("\(Hexadecimal.text(of: bytes))|list-\(number)|\(host?.description ?? "")|\(time)")
            places.append(String(id.reportPlace(in: "list-\(number)", host, at: time)))
        }
        let script = """
            import hashlib, sys
            for line in sys.stdin.read().split("\\n"):
                id, name, domain, time = line.split("|")
                parts = [bytes.fromhex(id), name.encode(), domain.encode(), b"report" + time[:10].encode()]
                print(int.from_bytes(hashlib.sha256(b"\\0".join(parts)).digest()[:8], "big") % 1000000)
            """
        let theirs = try await Python.run(script, input: Array(lines.joined(separator: "\n").utf8))
        #expect(theirs.split(separator: "\n").map(String.init) == places)
        #expect(Set(places).count > 490)
    }

    @Test(
        "a publisher turns the volume to a hundredth, and a hundredth of 20,000 installations reports: the same ones all day, others the next day"
    )
    func publisherTurnsTheVolumeToAHundredthAndAHundredthOf20000InstallationsReports() throws {
        let list = try self.list(10_000)
        let host = try HostName(Self.host)
        let midnight = try Timestamp("2026-11-21T00:00:00Z")
        func reporting(_ seconds: Int64) throws -> Set<Int> {
            let samplings = try self.installations(20_000).map { ReportSampling(list, for: $0) }
            let time = midnight.advanced(by: seconds)
            return Set(samplings.indices.filter { samplings[$0].includes(host, at: time) })
        }
        let first = try reporting(0)
        // 200 are expected, with a standard deviation of 14.
        #expect((140...260).contains(first.count))
        #expect(try reporting(86_399) == first)
        let second = try reporting(86_400)
        #expect((140...260).contains(second.count))
        #expect(first.intersection(second).count < 12, "others on the next day")
        #expect(try reporting(-1) != first)
    }

    @Test("the number of an entry replaces that of the list, in either direction")
    func numberOfAnEntryReplacesThatOfTheListInEitherDirection() throws {
        let host = try HostName(Self.host)
        let other = try HostName("other.example.com")
        let ids = try self.installations(1_000)
        func count(_ list: PinList, _ host: HostName?) -> Int {
            ids.count { ReportSampling(list, for: $0).includes(host, at: Story.start) }
        }
        let loud = try self.list(1, domain: 1_000_000)
        #expect(count(loud, host) == 1_000)
        #expect(count(loud, other) == 0 && count(loud, nil) == 0)
        let quiet = try self.list(1_000_000, domain: 1)
        #expect(count(quiet, host) == 0)
        #expect(count(quiet, other) == 1_000 && count(quiet, nil) == 1_000)
        #expect(loud.reportPerMillion(of: loud.domains[0]) == 1_000_000)
    }

    @Test("an installation whose id cannot be kept reports where all report, and nowhere else")
    func installationWhoseIdCannotBeKeptReportsWhereAllReportAndNowhereElse() throws {
        #expect(ReportSampling(try self.list(1_000_000), for: nil).includes(nil, at: Story.start))
        #expect(!ReportSampling(try self.list(999_999), for: nil).includes(nil, at: Story.start))
    }

    @Test("at its place it does not report, one below the number it does")
    func atItsPlaceItDoesNotReportOneBelowTheNumberItDoes() throws {
        let host = try HostName(Self.host)
        for id in try self.installations(50) {
            let place = Int64(id.reportPlace(in: "com.example.app", host, at: Story.start))
            guard place > 0 else { continue }
            #expect(!ReportSampling(try self.list(place), for: id).includes(host, at: Story.start))
            #expect(ReportSampling(try self.list(place + 1), for: id).includes(host, at: Story.start))
        }
    }
}
