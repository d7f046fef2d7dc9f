// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// The roots and lists that lie in an app.
struct EmbeddedLists {
    private var roots: [(path: String, bytes: [UInt8])] = []
    private var lists: [(path: String, bytes: [UInt8])] = []

    /// Keeps a file when it is one of them, by the type of its payload; whether it is.
    ///
    /// - Throws: ``MetadataError`` for a file that begins as one of them and does not read.
    mutating func add(_ path: String, _ bytes: [UInt8]) throws(MetadataError) -> Bool {
        for kind in [MetadataRole.root, .pins] {
            do throws(MetadataError) {
                _ = try Envelope(bytes, of: kind, limits: MetadataLimits())
            } catch {
                guard Self.begins(bytes, as: kind) else { continue }
                throw error
            }
            if kind == .root { self.roots.append((path, bytes)) } else { self.lists.append((path, bytes)) }
            return true
        }
        return false
    }

    /// Whether a file begins as an object with a payload of a kind; what stands within another object is quoted there.
    private static func begins(_ bytes: [UInt8], as kind: MetadataRole) -> Bool {
        guard let member = bytes.firstRange(of: Array("\"payloadType\"".utf8)),
            bytes.firstRange(of: Array("vnd.tumbler.\(kind.rawValue)+json".utf8)) != nil
        else { return false }
        return bytes[..<member.lowerBound].count { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") } == 1
    }

    /// The findings about embedded lists.
    ///
    /// - Parameters:
    ///   - bundles: The programs that were seen.
    ///   - facts: The sources, for the lists that they name.
    ///   - hasList: Whether the audit was given a list: then, as where a root or a list is in any program, its absence is said.
    ///   - time: The time of the audit.
    func findings(bundles: Set<String>, facts: [SourceFacts], hasList: Bool, at time: Timestamp) -> [AuditFinding] {
        var findings = self.lists.flatMap { self.findings(of: $0, among: bundles, at: time) }
        if hasList || !self.lists.isEmpty || !self.roots.isEmpty {
            for bundle in bundles.sorted()
            where !self.lists.contains(where: { Self.bundle(of: $0.path, among: bundles) == bundle }) {
                findings.append(AuditFinding(.listMissing, in: bundle, "no pin list is in this target"))
            }
        }
        for facts in facts {
            for (name, line) in facts.bundledLists
            where !self.lists.contains(where: { Self.name(of: $0.path) == name }) && !name.contains("root") {
                findings.append(
                    facts.text.finding(.listMissing, line: line, "\(name).json is not among the files of this audit"))
            }
        }
        return findings
    }

    private func findings(of list: (path: String, bytes: [UInt8]), among bundles: Set<String>, at time: Timestamp)
        -> [AuditFinding]
    {
        let bundle = Self.bundle(of: list.path, among: bundles)
        var refusal: MetadataError?
        // A program reads no files of another one: an extension does not have the root of its app.
        for root in self.roots where Self.bundle(of: root.path, among: bundles) == bundle {
            do throws(MetadataError) {
                let state = try TrustState(bundledRoot: root.bytes, bundledList: list.bytes)
                guard let held = state.inForce?.held else { continue }
                return Self.findings(of: held.list, list.path, at: time)
            } catch {
                refusal = error
            }
        }
        let why = refusal.map { "\($0)" } ?? "there is no root beside it"
        return [AuditFinding(.listUnverified, in: list.path, why)]
    }

    private static func findings(of list: PinList, _ path: String, at time: Timestamp) -> [AuditFinding] {
        let age = max(0, time.secondsSince1970 - list.issuedAt.secondsSince1970) / 86_400
        let left = (list.expiresAt.secondsSince1970 - time.secondsSince1970) / 86_400
        let what = "list \(list.version) of \(list.name), \(age) days old"
        if list.expiresAt <= time {
            return [AuditFinding(.listExpired, in: path, "\(what), expired on \(list.expiresAt)")]
        }
        if left < 30 { return [AuditFinding(.listExpiring, in: path, "\(what), expires in \(left) days")] }
        return [AuditFinding(.listOld, in: path, "\(what), expires in \(left) days")]
    }

    /// The innermost program that a file lies in.
    private static func bundle(of path: String, among bundles: Set<String>) -> String? {
        bundles.filter { path.hasPrefix($0 + "/") }.max { $0.count < $1.count }
    }

    private static func name(of path: String) -> String {
        let last = path.split(separator: "/").last.map(String.init) ?? path
        return last.hasSuffix(".json") ? String(last.dropLast(5)) : last
    }
}
