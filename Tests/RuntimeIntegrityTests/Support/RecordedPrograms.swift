// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation

@testable import RuntimeIntegrity

/// Signed programs and provisioning profiles, as `Recorded/programs/make.py` made them.
enum RecordedPrograms {
    /// Where they are.
    static let folder = RecordedFiles.folder.appendingPathComponent("programs")
    /// The team and the bundle identifier that most of them have.
    static let team = "A1B2C3D4E5"
    static let bundle = "com.example.bank"

    /// A part of a program, as the script's second reader printed it.
    struct Part: Equatable {
        let hash: String?
        let identifier: String?
        let team: String?
    }

    /// The bytes of a program.
    static func bytes(_ name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: self.folder.appendingPathComponent(name)))
    }

    /// The bytes of a profile.
    static func profile(_ name: String) throws -> [UInt8] { try self.bytes("\(name).mobileprovision") }

    /// What stands in each program, by `scripts/code-directory-hash`.
    static func expected() throws -> [String: [Part]] {
        let json = try Data(contentsOf: self.folder.appendingPathComponent("expected.json"))
        return try JSONDecoder().decode([String: [[String]]].self, from: json).mapValues { lines in
            lines.map { words in
                let known = words.map { $0 == "-" ? nil : $0 }
                return Part(hash: known[0], identifier: known[1], team: known[2])
            }
        }
    }

    /// The hashes of a program's parts.
    static func hashes(_ name: String) throws -> Set<CodeDirectoryHash> {
        Set(try self.expected()[name, default: []].compactMap { $0.hash.flatMap { CodeDirectoryHash($0) } })
    }

    /// SHA-256 of another implementation than Apple's.
    static let sha256: @Sendable ([UInt8]) -> [UInt8] = { Array(SHA256.hash(data: $0)) }
}
