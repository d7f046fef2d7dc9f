// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import TestData

@_spi(Tools) @testable import CertificateTransparency

/// Log lists, chains and answers of others.
enum PublishedVectors {
    static let isPresent =
        SharedData.holds(SharedData.transparency) && SharedData.holds(SharedData.realChains)

    static let missing: String = "../shared/data/transparency or real-chains is not beside the checkout"

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }

    /// The log list of a version.
    static func list(_ version: String) throws -> LogList? {
        let file = SharedData.transparency.appendingPathComponent("log-lists/v\(version)/log_list.json")
        guard SharedData.holds(file) else { return nil }
        return try LogList(Array(Data(contentsOf: file)))
    }

    /// The 15 log lists, by their version.
    static func lists() throws -> [String: LogList] {
        let folder = SharedData.transparency.appendingPathComponent("log-lists")
        var lists: [String: LogList] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.hasPrefix("v") {
            lists[String(name.dropFirst())] = try self.list(String(name.dropFirst()))
        }
        return lists
    }

    /// All logs of all lists, each as the newest list has it.
    static func allLogs() throws -> LogList {
        var logs: [LogID: TransparencyLog] = [:]
        let lists = try self.lists().values.sorted {
            ($0.timestamp ?? .init(secondsSince1970: 0)) < ($1.timestamp ?? .init(secondsSince1970: 0))
        }
        for log in lists.flatMap(\.logs) { logs[log.id] = log }
        return LogList(Array(logs.values), timestamp: lists.last?.timestamp)
    }

    /// A chain of the public web: leaf first.
    static func chain(_ file: String) throws -> [[UInt8]] {
        struct Case: Decodable {
            let peerCertificate: String
            let untrustedIntermediates: [String]
        }
        let data = try Data(contentsOf: SharedData.realChains.appendingPathComponent(file))
        let testcase = try self.decoder.decode(Case.self, from: data)
        return try ([testcase.peerCertificate] + testcase.untrustedIntermediates).flatMap {
            try PEMBlock.blocks(in: $0.utf8).map(\.bytes)
        }
    }

    /// The bytes of a file.
    static func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: SharedData.transparency.appendingPathComponent(path)))
    }

    /// What is expected, from a file.
    static func expected<Value: Decodable>(_ file: String, as type: Value.Type) throws -> Value {
        try self.decoder.decode(
            type, from: Data(contentsOf: SharedData.transparency.appendingPathComponent(file)))
    }
}
