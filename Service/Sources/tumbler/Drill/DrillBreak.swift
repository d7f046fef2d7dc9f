// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
import PinListClient
import PinListMetadata
import PinListRepository

/// The state that was broken, as far as it takes to know when it is repaired.
struct DrillBreak: Sendable {
    /// The scenario.
    let scenario: DrillScenario
    /// The id of the key that a thief has.
    var stolenKey: String?
    /// The lines of the source that are wrong.
    var wrongLines: [String] = []

    /// Whether the list that is served repairs it.
    func isRepaired(by situation: DrillSituation, serving pin: String) -> Bool {
        guard situation.pins.contains(where: { $0.description == pin }) else { return false }
        return self.stolenKey.map { !situation.signers.contains($0) } ?? true
    }
}

extension DrillStage {
    /// Breaks something.
    func begin(_ scenario: DrillScenario) async throws -> DrillBreak {
        let now = SystemClock().now
        var broken = DrillBreak(scenario: scenario)
        switch scenario {
        case .lostKey:
            try self.server.present(try self.authority.issued(for: self.source.host, at: now), by: self.authority)
        case .strangeCA:
            break  // The first installations are led to the interceptor.
        case .stolenPinsKey:
            broken.stolenKey = try await self.publishAsThief(at: now)
        case .wrongList:
            broken.wrongLines = try Self.strangePins().map(Self.line)
            try self.edit(
                self.project.source.path, replacing: self.pinLines.joined(separator: "\n"),
                with: broken.wrongLines.joined(separator: "\n"))
            // The intended error: no pin stays.
            try await Tumbler.run(self.releaseWords(allowing: ["propagation"])) { _ in }
        }
        return broken
    }

    /// Two pins of keys that do not exist.
    private static func strangePins() throws -> [KnownPin] {
        try ["current", "backup"].map { note in
            let key = try CommandError.wrapping { () throws(RepositoryError) in try PrivateKey(new: .p256) }
            return KnownPin(Pin(kind: .publicKey, hashing: key.subjectPublicKeyInfo), note: note)
        }
    }

    /// The words of a release.
    func releaseWords(allowing rules: [String] = []) -> [String] {
        Self.releaseWords(self.project, self.service, allowing: self.allowed + rules)
    }

    /// Replaces a text of a file that is there once.
    ///
    /// - Throws: ``CommandError`` when it is not there.
    func edit(_ path: String, replacing old: String, with new: String) throws(CommandError) {
        let bytes = try InputFile.read(path)
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.contains(old) else {
            throw CommandError(.undecided, "\(path) no longer has the text to edit")
        }
        try CommandError.wrapping { () throws(RepositoryError) in
            try ProjectFolder.write(Array(text.replacing(old, with: new).utf8), to: URL(fileURLWithPath: path))
        }
    }

    /// Publishes a list with a stranger's pins, signed by the team's own key.
    ///
    /// - Returns: The id of that key.
    private func publishAsThief(at time: Timestamp) async throws -> String {
        let input = try SourceInput(nil, try ProjectOption.parse(["-C", self.project.folder.path]))
        var list = try PinList(building: input.source, after: try self.project.publishedList(), at: time)
        let pins = try Self.strangePins()
        for index in list.domains.indices where list.domains[index].entry.domain == self.source.host {
            list.domains[index].entry.pins = pins
        }
        guard let root = try self.project.newestRoot(), let key = root.pins.keyIDs.first else {
            throw CommandError(.undecided, "the project of the drill has no root")
        }
        var ceremony = try SigningCeremony(try SignableMetadata(list.payload, named: "a list"), under: [root])
        let keyFile = self.project.folder.appendingPathComponent(NewProject.pinsKeyName).path
        try await ceremony.add(FileSigner(keyFile, passphrase: .terminal))
        let publication = try Publication(
            roots: try self.project.roots(), list: try SignableMetadata.file(of: ceremony.envelope))
        let client = ServiceClient(
            try ServiceAddress(self.service.address, from: "the drill"),
            try ServiceToken(file: self.service.tokenFile.path))
        do throws(ServiceClient.PublishingError) { _ = try await client.publish(publication) } catch {
            throw error.failure
        }
        return key
    }
}

/// The possible causes of refused connections: what the person is asked. One of them is right.
enum DrillCause: Int, CaseIterable, Sendable {
    /// A key of the server that no list has.
    case unlistedKey = 1
    /// Another authority's certificate, in between.
    case interception
    /// A list of a stranger.
    case strangeSigner
    /// A list of our own with wrong pins.
    case wrongPins
    /// Wrong clocks.
    case wrongClocks
    /// A certificate that has expired.
    case expiredCertificate

    /// In words, for the question and for the page.
    var words: String {
        switch self {
        case .unlistedKey: "the server presents a key of which no list has the pin"
        case .interception: "the connections of some are intercepted, with a certificate of another authority"
        case .strangeSigner: "a list is out that our team did not sign"
        case .wrongPins: "a list of ours is out, with pins that no server presents"
        case .wrongClocks: "the clocks of the devices are wrong"
        case .expiredCertificate: "the server's certificate has expired"
        }
    }

    /// The question, a line for each.
    static var question: [String] { Self.allCases.map { "  cause \($0.rawValue)  \($0.words)" } }
}
