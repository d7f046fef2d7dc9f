// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinListMetadata

/// What a body of `POST /v1/reports` costs, in tokens of its source and of all (formats.md, section 7).
///
/// A token is what one usual report costs: 32 KiB to be read and parsed, one row, one group. What costs more is charged
/// more, so that no body is cheaper than the same work in others (decision 0046).
enum ReportCost {
    /// How many bytes a token pays for. A report with two chains of four certificates has 20 KiB.
    static let bytesOfToken = 32_768
    /// Of how many bytes a token pays for the check of one signature: Ed25519 and ML-DSA-65 hash the whole list anew for
    /// each of at most 32 signatures (formats.md, section 3.2), and 64 KiB of that take as long as a report.
    static let signedBytesOfToken = 65_536

    /// What reading a body costs: known before it is parsed.
    static func reading(_ bytes: Int) -> Int { max(1, Self.parts(bytes, of: Self.bytesOfToken)) }

    /// What a body costs in all: its reports, or reading it, or the checks of an envelope's signatures, whichever is most.
    static func all(of collected: CollectedReports, bytes: Int) -> Int {
        collected.reports.reduce(max(Self.reading(bytes), collected.reports.count)) { most, report in
            max(most, report.envelope.map(Self.checking) ?? 1)
        }
    }

    /// What it costs to see whether an envelope was signed: nothing where it cannot be read.
    private static func checking(_ envelope: [UInt8]) -> Int {
        guard let read = try? Envelope(envelope, of: .pins, limits: MetadataLimits()) else { return 1 }
        return read.signatures.count * Self.parts(envelope.count, of: Self.signedBytesOfToken)
    }

    private static func parts(_ bytes: Int, of size: Int) -> Int { (bytes + size - 1) / size }
}
