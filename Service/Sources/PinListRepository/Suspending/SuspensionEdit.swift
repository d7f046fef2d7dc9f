// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import PinListMetadata

/// Puts a suspension into a source, or takes it out: whole lines come and go, every other byte stays (formats.md,
/// section 9). What comes out was read again, and says exactly what was meant.
public struct SuspensionEdit: Sendable {
    /// The source before.
    public let source: ListSource

    private let bytes: [UInt8]
    private let file: String
    private let files: any SourceFiles

    /// The maximum length of a reason, in bytes: one line of a list that every client loads.
    public static let maximumReasonLength = 512

    /// Reads what is to be edited.
    ///
    /// - Throws: ``RepositoryError`` for a source that cannot be read.
    public init(_ bytes: [UInt8], file: String, files: some SourceFiles) throws(RepositoryError) {
        self.source = try ListSource(bytes, file: file, files: files)
        self.bytes = bytes
        self.file = file
        self.files = files
    }

    /// The scope of a text: `*`, or a host that an entry is for.
    ///
    /// - Throws: ``RepositoryError`` that names the nearest entry.
    public func scope(_ text: String) throws(RepositoryError) -> Suspension.Scope {
        if text == "*" { return .everything }
        let host: HostName
        do { host = try HostName(InternationalName.ascii(text) ?? text) } catch {
            throw RepositoryError(.source, "\(text): no host: \(error.reason)", hint: "name an entry's domain, or '*'")
        }
        guard self.source.domains.contains(where: { $0.host == host }) else {
            let known = self.source.domains.map { "\($0.host)" }
            throw RepositoryError(
                .source, "\(host) has no entry in \(self.file), so nothing would be suspended",
                hint: NearestName.of("\(host)", among: known).map { "there is \($0)" }
                    ?? "name an entry's own domain, or '*' for all")
        }
        return .entry(host)
    }

    /// The source with a suspension, in place of the one that the same domain may have.
    ///
    /// - Throws: ``RepositoryError`` when it is over seven days, has a reason that cannot be written, or cannot be put
    ///   in by whole lines.
    public func suspending(_ suspension: Suspension, at time: Timestamp) throws(RepositoryError) -> [UInt8] {
        let seconds = suspension.until.secondsSince1970 - time.secondsSince1970
        guard (1...MetadataLimits.suspensionSeconds).contains(seconds) else {
            throw RepositoryError(
                .source, "a suspension holds for at most 7 days, and this one for \(SourceDuration.rough(seconds))",
                hint: "suspend for hours, such as --for 12h, and again when that was not enough")
        }
        let reason = suspension.reason
        let isLine = reason.unicodeScalars.allSatisfy { PrintableText.line(String($0)) == String($0) }
        guard !reason.isEmpty, reason.utf8.count <= Self.maximumReasonLength, isLine else {
            throw RepositoryError(
                .source, "a reason is one line of at most \(Self.maximumReasonLength) bytes",
                hint: "it is published with the list: name a ticket, such as \"incident 4711\"")
        }
        var bytes = self.bytes
        if self.source.suspended.contains(where: { $0.value.scope == suspension.scope }) {
            bytes = try self.resuming(suspension.scope)
        }
        var expected = self.source
        expected.suspended.removeAll { $0.value.scope == suspension.scope }
        expected.suspended.append(Located(suspension, SourcePosition(file: self.file, line: 1, column: 1)))
        return try self.checked(try SuspensionLines(bytes, file: self.file).inserting(suspension), expected)
    }

    /// The source without the suspension of a domain.
    ///
    /// - Throws: ``RepositoryError`` when there is none, when another file holds it, or it cannot be taken out by whole
    ///   lines.
    public func resuming(_ scope: Suspension.Scope) throws(RepositoryError) -> [UInt8] {
        let held = self.source.suspended.filter { $0.value.scope == scope }
        guard !held.isEmpty else {
            throw RepositoryError(.source, "\(scope) is not suspended in \(self.file)")
        }
        if let elsewhere = held.first(where: { $0.position.file != self.file }) {
            throw elsewhere.position.error(
                "the suspension of \(scope) is in an included file",
                hint: "remove it there by hand: resume edits \(self.file) alone")
        }
        var bytes = self.bytes
        for _ in held { bytes = try SuspensionLines(bytes, file: self.file).removing(scope) }
        var expected = self.source
        expected.suspended.removeAll { $0.value.scope == scope }
        return try self.checked(bytes, expected)
    }

    /// Reads the result. Where it says anything else than was meant, nothing is written.
    private func checked(_ bytes: [UInt8], _ expected: ListSource) throws(RepositoryError) -> [UInt8] {
        let hint = "change suspended: in \(self.file) by hand"
        var read: ListSource
        do { read = try ListSource(bytes, file: self.file, files: self.files) } catch {
            throw RepositoryError(
                .source, "\(self.file) cannot be edited by whole lines as it is written (\(error.reason))", hint: hint)
        }
        var expected = expected
        let isSame = Set(read.suspended) == Set(expected.suspended) && read.suspended.count == expected.suspended.count
        read.suspended = []
        expected.suspended = []
        guard isSame, read == expected else {
            throw RepositoryError(
                .source, "an edit of whole lines would change more of \(self.file) than was asked for", hint: hint
            )
        }
        return bytes
    }
}

/// Finds the lines of `suspended` in a source. It may be wrong about unusual layouts: the caller parses the result
/// again.
private struct SuspensionLines {
    private let section: SectionLines

    init(_ bytes: [UInt8], file: String) throws(RepositoryError) {
        self.section = try SectionLines(bytes, of: "suspended", file: file)
    }

    /// The bytes with a suspension in front of the others.
    func inserting(_ suspension: Suspension) throws(RepositoryError) -> [UInt8] {
        try self.section.inserting(YAMLWriter.line(suspension))
    }

    /// The bytes without the first suspension of a scope.
    func removing(_ scope: Suspension.Scope) throws(RepositoryError) -> [UInt8] {
        guard let member = self.section.member, case .sequence(let values) = member.value.content else {
            throw self.section.lines.refusal(self.section.position, "suspended is written in another way")
        }
        for value in values where try Suspension.located(value).value.scope == scope {
            return try self.section.lines.removing(value, from: member)
        }
        throw self.section.lines.refusal(member.position, "\(scope) is not there")
    }
}
