// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import Foundation
import PathValidation

/// A case of x509-limbo, in its own format (limbo-schema.json, version 1).
struct LimboCase: Decodable {
    struct PeerName: Decodable {
        let kind: String
        let value: String
    }

    enum Result: String, Codable {
        case success = "SUCCESS"
        case failure = "FAILURE"
    }

    let id: String
    let features: [String]?
    let validationKind: String
    let trustedCerts: [String]
    let untrustedIntermediates: [String]
    let peerCertificate: String
    let validationTime: String?
    let expectedResult: Result
    let expectedPeerName: PeerName?
    let maxChainDepth: Int?

    /// Reads the cases of a file, which is one case or a collection of them.
    static func cases(in file: URL) throws -> [LimboCase] {
        struct Collection: Decodable { let testcases: [LimboCase] }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let data = try Data(contentsOf: file)
        if let all = try? decoder.decode(Collection.self, from: data) { return all.testcases }
        return [try decoder.decode(LimboCase.self, from: data)]
    }

    /// The presented chain, leaf first.
    func presented() throws -> [[UInt8]] {
        try ([self.peerCertificate] + self.untrustedIntermediates).flatMap { try Self.certificates($0) }
    }

    /// The anchors.
    func anchors() throws -> [[UInt8]] { try self.trustedCerts.flatMap { try Self.certificates($0) } }

    /// Validates the case as an app would.
    ///
    /// - Parameter now: The time of the cases that name none.
    func outcome(now: Timestamp) async throws -> PathOutcome {
        // Written with an offset of zero, and one with a fraction of a second.
        let time = try self.validationTime.map { try Timestamp($0.prefix(19) + "Z") } ?? now
        var limits = PathLimits.standard
        if let maxChainDepth { limits.pathLength = maxChainDepth + 2 }
        let validator = PathValidator(
            roots: RootStore(certificates: try self.anchors()), limits: limits, monotonicNanoseconds: { 0 })
        let identity: ServerIdentity = try self.expectedPeerName.map { .host(try HostName($0.value)) } ?? .uncheckedName
        return await validator.validate(presented: try self.presented(), as: identity, at: time)
    }

    private static func certificates(_ text: String) throws -> [[UInt8]] {
        try PEMBlock.blocks(in: text.utf8).map(\.bytes)
    }
}

/// The results of a harness, in limbo's own format.
struct LimboResults: Encodable {
    struct Case: Encodable {
        let id: String
        let actualResult: LimboCase.Result
        let context: String?
    }

    let version = 1
    let harness = "tumbler"
    var results: [Case] = []

    private enum CodingKeys: CodingKey { case version, harness, results }

    /// Writes the results to a file.
    func write(to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(self).write(to: file)
    }
}
#endif
