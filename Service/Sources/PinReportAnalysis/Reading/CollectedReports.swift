// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import PinListMetadata

/// The reports of a body of `POST /v1/reports`: one report, or those in an array of the Reporting API.
public struct CollectedReports: Hashable, Sendable {
    /// The reports, in their order.
    public let reports: [CollectedReport]

    /// The number of entries of an array about something else: no error, only counted.
    public let ignored: Int
}

extension CollectedReport {
    /// Reads a body: section 5's reports and list incidents, TrustKit's, RFC 7469's, or an array of Reporting API
    /// entries. What is over a limit is refused before it is parsed.
    ///
    /// - Parameters:
    ///   - body: The bytes that came.
    ///   - now: The time of arrival; entries of the Reporting API say how old they are.
    ///   - limits: The most bytes.
    ///   - entry: The domain of the published entry that applies to a host; `nil` for none. It is the noted host of a
    ///     report that names none: of the Reporting API, and of senders that know hosts alone.
    /// - Throws: ``ReportError``: nothing of the body is taken then.
    public static func read(
        _ body: [UInt8], at now: Timestamp, limits: ReportBodyLimits = ReportBodyLimits(),
        entry: (HostName) -> String? = { _ in nil }
    ) throws(ReportError) -> CollectedReports {
        let mayHoldEnvelope = body.count > limits.plainBytes && Self.mentionsEnvelope(body)
        let maximum = mayHoldEnvelope ? limits.bodyBytes : min(limits.plainBytes, limits.bodyBytes)
        guard body.count <= maximum else { throw Self.tooLarge(maximum) }
        let value: JSONValue
        do throws(JSONValue.ParsingError) {
            value = try JSONValue(strict: body, maximumValues: ReportBodyLimits.values, numbers: .truncated)
        } catch {
            // The reasons are the parser's own words; where it stands, no text of the body does.
            throw ReportError(.notJSON, "the body is not JSON that can be taken: \(error.reason)")
        }
        if case .array(let entries) = value {
            guard body.count <= limits.plainBytes else { throw Self.tooLarge(limits.plainBytes) }
            return try Self.reports(of: entries, at: now, entry)
        }
        let report = try CollectedReport(try ReportMembers(value, "the report"), entry)
        guard body.count <= limits.plainBytes || report.envelope != nil else { throw Self.tooLarge(limits.plainBytes) }
        return CollectedReports(reports: [report], ignored: 0)
    }

    private static func tooLarge(_ bytes: Int) -> ReportError {
        ReportError(.tooLarge, "the body is over \(bytes) bytes; leave the certificate chains out")
    }

    private static func reports(
        of entries: [JSONValue], at now: Timestamp, _ entry: (HostName) -> String?
    ) throws(ReportError) -> CollectedReports {
        guard entries.count <= ReportBodyLimits.entries else {
            throw ReportError(
                .tooLarge, "the array has over \(ReportBodyLimits.entries) entries; send the rest in another request")
        }
        var reports: [CollectedReport] = []
        for (index, value) in entries.enumerated() {
            let members = try ReportMembers(value, "entry \(index + 1)")
            if let report = try ReportingEntry.report(members, at: now, entry) { reports.append(report) }
        }
        return CollectedReports(reports: reports, ignored: entries.count - reports.count)
    }

    /// Whether a large body is worth parsing at all.
    private static func mentionsEnvelope(_ body: [UInt8]) -> Bool {
        let name = Array("\"envelope\"".utf8)
        return body.withUnsafeBufferPointer { bytes in
            var position = 0
            while position + name.count <= bytes.count {
                if bytes[position] == name[0], bytes[position..<(position + name.count)].elementsEqual(name) {
                    return true
                }
                position += 1
            }
            return false
        }
    }
}
