// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
import PathValidation

/// `--crl FILE… --revocation DEMAND`: the revocation lists that a path must pass.
struct RevocationOptions: ParsableArguments {
    /// The names of all demands, for people.
    static let names = RevocationCheck.Demand.allCases.map(\.rawValue).joined(separator: "|")

    @Option(
        name: .customLong("crl"), parsing: .upToNextOption,
        help: ArgumentHelp(
            "Revocation lists, DER or PEM: a certificate that one of them has is refused.", valueName: "file"),
        completion: .file())
    var lists: [String] = []

    @Option(
        help: ArgumentHelp(
            "The rule for a certificate that no list covers: if-known accepts it, required refuses it.",
            valueName: Self.names),
        completion: .list(RevocationCheck.Demand.allCases.map(\.rawValue)),
        transform: RevocationOptions.demand)
    var revocation: RevocationCheck.Demand?

    func validate() throws {
        if self.revocation == .ifKnown, self.lists.isEmpty {
            throw ValidationError("--revocation if-known needs --crl")
        }
    }

    /// The demand with a name.
    static func demand(_ name: String) throws -> RevocationCheck.Demand {
        guard let demand = RevocationCheck.Demand(rawValue: name) else {
            throw ValidationError("\(name) is not a demand; there are \(self.names)")
        }
        return demand
    }

    /// The check that a path must pass; `nil` for none.
    ///
    /// - Throws: ``CommandError`` when a list cannot be read.
    func check() throws(CommandError) -> RevocationCheck? {
        guard !self.lists.isEmpty || self.revocation != nil else { return nil }
        return RevocationCheck(try RevocationListFile.read(self.lists), self.revocation ?? .ifKnown)
    }
}

/// Revocation lists in files that a command is given.
enum RevocationListFile {
    /// Reads lists.
    ///
    /// - Throws: ``CommandError`` with the file's name when one cannot be read, or holds none.
    static func read(_ paths: [String]) throws(CommandError) -> RevocationLists {
        var lists = RevocationLists.none
        for path in paths {
            let bytes = try InputFile.read(path, maximumLength: RevocationLists.maximumLength)
            do throws(InputError) { lists = try lists.adding([bytes]) } catch {
                throw CommandError(
                    .undecided, "\(path): \(error)", hint: "openssl crl -in FILE -noout -text prints its content")
            }
        }
        return lists
    }
}

/// The revocation lists of a batch: each set is read once.
actor RevocationListCache {
    /// The maximum number of sets that are kept; the cache is emptied when there are more.
    private static let maximumCount = 16

    /// The minimum number of characters of a text that is no path: no list in base64 is as short as a path may be.
    private static let maximumPath = 4_096

    private var sets: [[String]: RevocationLists] = [:]

    /// The lists of some texts, each a path or a list in base64.
    ///
    /// - Throws: ``InputError`` when one cannot be read.
    func lists(_ texts: [String]) throws(InputError) -> RevocationLists {
        if let known = self.sets[texts] { return known }
        var files: [[UInt8]] = []
        for text in texts { files.append(try Self.bytes(of: text)) }
        let lists = try RevocationLists(files)
        if self.sets.count >= Self.maximumCount { self.sets.removeAll() }
        self.sets[texts] = lists
        return lists
    }

    /// DER begins with a SEQUENCE, so base64 of a list begins with `MI` (a length of two bytes or more) or `M`; a path may
    /// as well. What is base64 of such bytes and no file is a list.
    private static func bytes(of text: String) throws(InputError) -> [UInt8] {
        if text.utf8.count > self.maximumPath || !FileManager.default.fileExists(atPath: text),
            let der = Base64.decode(text.utf8), der.first == 0x30
        {
            return der
        }
        do throws(CommandError) {
            return try InputFile.read(text, maximumLength: RevocationLists.maximumLength)
        } catch {
            throw InputError(.revocationList, error.message)
        }
    }
}
