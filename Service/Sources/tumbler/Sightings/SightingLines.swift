// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CertificateSightings
import CommandLineInterface
import Foundation
import PinListMetadata

/// Certificates as JSON, one object a line: what services that search logs answer, an element of their array each
/// (formats.md, section 8). A line that cannot be read is said and passed over.
struct SightingLines {
    /// The maximum number of bytes of a line: a certificate of 64 KiB with its chain in base64 and some more.
    static let maximumLine = 1_048_576
    /// The number of lines that are read at once.
    private static let batch = 64

    private var input: InputLines
    private let path: String
    private var number = 0

    /// Opens a file; `-` is standard input.
    ///
    /// - Throws: ``CommandError`` when there is no such file.
    init(_ path: String) throws(CommandError) {
        self.input = try InputLines(path, maximumLength: Self.maximumLine)
        self.path = path
    }

    /// The next certificates; `nil` at the end.
    ///
    /// - Throws: ``CommandError`` when reading fails.
    mutating func next(_ outcome: inout SightingOutcome) throws(CommandError) -> [ToldCertificate]? {
        let lines = try self.input.next(atMost: Self.batch)
        guard !lines.isEmpty else { return nil }
        var told: [ToldCertificate] = []
        for line in lines {
            self.number += 1
            do throws(CommandError) {
                guard case .bytes(let bytes) = line else {
                    throw CommandError(.undecided, "over \(Self.maximumLine) bytes")
                }
                told.append(try Self.certificate(Array(bytes)))
            } catch {
                outcome.isPartial = true
                StandardError.warning("\(self.path), object \(self.number): \(error.message)")
            }
        }
        return told
    }

    /// The members of a line that are read. Services write much more.
    private struct Line: Decodable {
        let der, certDER, raw: String?
        let cert: Certificate?
        let chain: [String]?
        let log, loggedAt: String?

        struct Certificate: Decodable {
            let data: String?
        }

        private enum CodingKeys: String, CodingKey {
            case der, raw, cert, chain, log, loggedAt
            case certDER = "cert_der"
        }
    }

    /// Reads a line. The certificate is `der`, as the service takes it, `cert_der`, `cert` with `data`, or `raw`; the chain
    /// is `chain`; `log` and `loggedAt` are as the service takes them.
    static func certificate(_ bytes: [UInt8]) throws(CommandError) -> ToldCertificate {
        guard let line = try? JSONDecoder().decode(Line.self, from: Data(bytes)) else {
            throw CommandError(.undecided, "not a JSON object, or a member of it that is known is of another type")
        }
        guard let der = line.der ?? line.certDER ?? line.cert?.data ?? line.raw else {
            throw CommandError(
                .undecided, "there is no certificate in it: no der, cert_der, cert with data, or raw",
                hint: "SSLMate's service adds cert_der with expand=cert_der")
        }
        var members = [JSONValue.Member("der", .string(der))]
        if let chain = line.chain { members.append(.init("chain", .array(chain.map { .string($0) }))) }
        if let log = line.log { members.append(.init("log", .string(log))) }
        if let time = line.loggedAt { members.append(.init("loggedAt", .string(time))) }
        do throws(SightingError) {
            let told = try ToldCertificate(.object(members))
            _ = try SightedCertificate(told.certificate)
            return told
        } catch { throw CommandError(.undecided, error.description) }
    }
}
