// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking
import PathValidation
import Security
import Testing

/// Where the chains are: beside the checkout, not in it.
private let realChains: URL = {
    var folder = URL(fileURLWithPath: #filePath)
    for _ in 0..<6 { folder.deleteLastPathComponent() }
    return folder.appendingPathComponent("shared/data/real-chains", isDirectory: true)
}()

/// 153 chains that well-known servers presented in 2023 and 2024, each in a session at its own time.
@Suite(
    "Chains of the public web, over the shims",
    .enabled(
        if: FileManager.default.fileExists(atPath: realChains.path),
        "../shared/data/real-chains is not beside the checkout"))
struct RealChainTests {
    @Test("each is trusted at its time for its host, and by default handling; for no other host")
    func eachIsTrustedAtItsTimeForItsHostAndByDefaultHandlingForNoOtherHost() async throws {
        let files = try FileManager.default.contentsOfDirectory(at: realChains, includingPropertiesForKeys: nil)
        let cases = try files.filter { $0.lastPathComponent.hasSuffix(".limbo.json") }
            .flatMap { try LimboCase.cases(in: $0) }
        #expect(cases.count == 153)
        for testcase in cases {
            let host = try #require(testcase.expectedPeerName?.value)
            let presented = try testcase.presented()
            let leaf = try #require(presented.first)
            let time = try #require(ISO8601DateFormatter().date(from: (testcase.validationTime ?? "").prefix(19) + "Z"))
            SimulatedSystem.setTime(time, forLeaf: leaf)
            for anchor in try testcase.anchors() { #expect(SimulatedSystem.addAnchor(anchor)) }
            let network = SimulatedNetwork()
            network.add(.init(presented: presented), at: host)
            network.add(.init(presented: presented), at: "elsewhere.example")
            let configuration = URLSessionConfiguration.ephemeral
            configuration.simulatedNetwork = network
            let session = URLSession(configuration: configuration)
            let url = try #require(URL(string: "https://\(host)/"))
            let elsewhere = try #require(URL(string: "https://elsewhere.example/"))
            network.setAnswer(.text("hello"), for: url.absoluteString)
            let data = try? await session.data(from: url).0
            #expect(data == Data("hello".utf8), "\(testcase.id)")
            await #expect(throws: URLError.self) { try await session.data(from: elsewhere) }
            #expect(network.bytes(at: "elsewhere.example") == 0)
        }
    }
}
