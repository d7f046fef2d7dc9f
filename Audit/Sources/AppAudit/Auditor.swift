// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import AppArtifacts
public import CertificatePinning
public import PinListMetadata
internal import PinningMigration

/// Audits the files of an app, one after the other, and then the whole.
///
/// It reads no disk: files are handed to it. A file that cannot be read is a finding, and the rest goes on.
public struct Auditor {
    /// The most that is read of a file, by what it is.
    public enum Limits {
        /// Bytes of a source file.
        public static let source = 4 * 1_048_576
        /// Bytes of a property list, a lock file, a certificate, a list.
        public static let document = 4 * 1_048_576
        /// Bytes of a file in which the lines of findings are looked for: for each from the beginning.
        public static let searched = 512 * 1_024
        /// Bytes of a program.
        public static let program = 512 * 1_048_576
        /// Bytes of an archive.
        public static let archive = 512 * 1_048_576
        /// Bytes that all files of an archive may inflate to.
        public static let inflated = 2_048 * 1_048_576
        /// Findings of a file that are kept.
        public static let findings = 2_000
    }

    /// The kind of a file, by its name; a file of no kind is not read.
    public enum Kind: Hashable, Sendable {
        case swift
        case objectiveC
        case android
        case propertyList
        case xml
        /// A resource of Android, perhaps a network security configuration of another name: its content says so.
        case resource
        case packages
        case pods
        case certificate
        case json
        case archive
        /// A program, perhaps: the first bytes say so.
        case program

        /// The most bytes that are read.
        public var limit: Int {
            switch self {
            case .swift, .objectiveC, .android: Limits.source
            case .archive: Limits.archive
            case .program: Limits.program
            default: Limits.document
            }
        }

        /// Endings that no program has, so that nothing of them is read.
        private static let assets: Set<String> = Set(
            """
            png jpg jpeg gif heic webp svg pdf mp3 m4a mp4 mov wav caf ttf otf strings stringsdict nib storyboardc \
            storyboard xib car mom momd mlmodelc html css js ts txt md h hpp c cc cpp cxx s py rb sh go rs cs yml yaml toml \
            modulemap swiftinterface swiftmodule swiftdoc xcprivacy dat db sqlite csv lock proto gradle xml in cmake
            """.split(separator: " ").map(String.init))

        /// Whether a file is in the folder of those resources that a manifest may name, `res/xml` or `res/xml-v24`.
        private static func isInXMLResources(_ path: String) -> Bool {
            guard let folder = path.split(separator: "/").dropLast().last else { return false }
            return folder == "xml" || folder.hasPrefix("xml-")
        }

        /// Reads the kind from a name, or from a path.
        public init?(name: String) {
            let last = name.split(separator: "/").last.map(String.init) ?? name
            let lower = last.lowercased()
            switch lower {
            case "package.resolved": self = .packages
            case "podfile.lock": self = .pods
            case "androidmanifest.xml": self = .xml
            default:
                guard let dot = lower.lastIndex(of: "."), dot != lower.startIndex else {
                    self = .program
                    return
                }
                switch lower[lower.index(after: dot)...] {
                case "swift": self = .swift
                case "m", "mm": self = .objectiveC
                case "kt", "kts", "java": self = .android
                case "plist", "entitlements": self = .propertyList
                case "xml" where lower.contains("network") || lower.contains("security"): self = .xml
                case "xml" where Self.isInXMLResources(name): self = .resource
                case "cer", "der", "crt", "pem": self = .certificate
                case "json": self = .json
                case "ipa", "zip", "xcarchive": self = .archive
                // A program may have dots in its name; its first bytes decide.
                case let ending where !Self.assets.contains(String(ending)): self = .program
                default: return nil
                }
            }
        }
    }

    let list: PinList?
    let time: Timestamp
    private let inflated: Int
    private(set) var findings: [AuditFinding] = []
    private(set) var surfaces: [NetworkSurface] = []
    private(set) var notes: [String] = []
    private(set) var fileCount = 0
    private var facts: [SourceFacts] = []
    private var pins: [(literal: SourceFacts.PinLiteral, text: SourceText, isConfigured: Bool)] = []
    private var certificates: [AppCertificate] = []
    private var metadata = EmbeddedLists()
    /// Folders that are programs for people: `.app`, `.appex`.
    private var bundles: Set<String> = []
    private var allowances: [String: [SourceText.Allowance]] = [:]

    /// Begins an audit.
    ///
    /// - Parameters:
    ///   - list: The pin list to compare with, where there is one.
    ///   - time: The time of the audit: what has expired by then is a finding.
    ///   - inflated: The most bytes that all files of an archive may inflate to.
    public init(list: PinList?, at time: Timestamp, inflated: Int = Limits.inflated) {
        self.list = list
        self.time = time
        self.inflated = inflated
    }

    private var today: String { String(self.time.description.prefix(10)) }

    // MARK: Files

    /// Notes what was not looked at, so that the report says it.
    public mutating func note(unread path: String, _ why: String) {
        self.findings.append(AuditFinding(.unreadable, in: path, why))
    }

    /// Notes a line for people that is no finding.
    public mutating func note(_ line: String) { self.notes.append(line) }

    /// Audits a file.
    ///
    /// - Parameters:
    ///   - path: The path as reports show it.
    ///   - kind: The kind of file.
    ///   - bytes: All of it.
    public mutating func add(_ path: String, _ kind: Kind, _ bytes: [UInt8]) {
        self.noteBundle(of: path)
        switch kind {
        case .archive: self.addArchive(path, bytes)
        case .program:
            guard MachOFile.begins(bytes) else { return }
            self.fileCount += 1
            self.addProgram(path, bytes)
        case .resource:
            guard bytes.firstRange(of: Array("<network-security-config".utf8)) != nil else { return }
            self.add(path, .xml, bytes)
        case .certificate:
            self.fileCount += 1
            let (certificates, defect) = AppCertificate.all(in: bytes, path: path)
            self.certificates += certificates
            if let defect { self.note(unread: path, defect) }
        case .json:
            // Other folders than an app's are full of JSON, too.
            do throws(MetadataError) {
                guard try self.metadata.add(path, bytes) else { return }
            } catch {
                self.note(unread: path, "\(error)")
            }
            self.fileCount += 1
        default:
            self.fileCount += 1
            self.addText(SourceText(bytes, path: path), kind)
        }
    }

    private mutating func addText(_ text: SourceText, _ kind: Kind) {
        if !text.allowances.isEmpty { self.allowances[text.path] = text.allowances }
        switch kind {
        case .swift: self.addSource(SwiftSource.facts(of: text, today: self.today))
        case .objectiveC: self.addSource(ObjectiveCSource.facts(of: text, today: self.today))
        case .android: self.addSource(AndroidSource.facts(of: text))
        case .packages:
            guard let names = KnownSDK.packages(in: text.bytes) else {
                return self.note(unread: text.path, "it is no Package.resolved that is known")
            }
            for name in names { self.addDependency(name, text, text.line(with: "\"\(name)\"")) }
        case .pods: for (name, line) in KnownSDK.pods(in: text) { self.addDependency(name, text, line) }
        case .xml: self.addDocument(text, AndroidConfiguration.outcome)
        default: self.addDocument(text, InfoPropertyList.outcome)
        }
    }

    private mutating func addSource(_ facts: SourceFacts) {
        var facts = facts
        let more = max(0, facts.findings.count - Limits.findings)
        if more + facts.leftOut > 0 {
            self.note(unread: facts.text.path, "\(more + facts.leftOut) more findings in it are left out")
            facts.findings.removeLast(more)
        }
        self.findings += facts.findings
        self.surfaces += facts.surfaces
        self.pins += facts.pins.map { ($0, facts.text, false) }
        self.facts.append(facts)
    }

    private mutating func addDocument(
        _ text: SourceText, _ read: (SourceText, PinList?, Timestamp) throws(MigrationError) -> InfoPropertyList.Outcome
    ) {
        do throws(MigrationError) {
            let outcome = try read(text, self.list, self.time)
            self.findings += outcome.findings
            self.surfaces += outcome.surfaces
            self.pins += outcome.pins.map { ($0, text, true) }
        } catch {
            self.note(unread: text.path, error.reason)
        }
    }

    private mutating func addDependency(_ name: String, _ text: SourceText, _ line: @autoclosure () -> Int?) {
        guard let sdk = KnownSDK.named(name) else { return }
        // Subspecs of a pod are one dependency.
        let message = "\(sdk.name) (\(name.split(separator: "/").first.map(String.init) ?? name)): \(sdk.hint)"
        guard !self.findings.contains(where: { $0.file == text.path && $0.message == message }) else { return }
        self.findings.append(text.finding(.thirdParty, line: line(), message))
    }

    private mutating func addProgram(_ path: String, _ bytes: [UInt8]) {
        do throws(ArtifactError) {
            let outcome = try ProgramFile.outcome(of: bytes, path: path)
            self.findings += outcome.findings
            self.surfaces += outcome.surfaces
        } catch {
            self.note(unread: path, "Mach-O, \(error)")
        }
    }

    private mutating func addArchive(_ path: String, _ bytes: [UInt8]) {
        let archive: ZipArchive
        do throws(ArtifactError) { archive = try ZipArchive(bytes) } catch {
            return self.note(unread: path, "archive, \(error)")
        }
        for (name, why) in archive.refused.prefix(100) { self.note(unread: "\(path)/\(PrintableText.line(name))", why) }
        if archive.refused.count > 100 {
            self.note(unread: path, "\(archive.refused.count - 100) more names in it are refused")
        }
        var left = self.inflated
        for entry in archive.entries {
            let name = "\(path)/\(PrintableText.line(entry.name))"
            // An archive in an archive is how bombs are built.
            guard let kind = Kind(name: entry.name) else { continue }
            guard kind != .archive else {
                self.note(unread: name, "an archive within an archive is not opened")
                continue
            }
            guard entry.count <= left else {
                self.note(
                    unread: path,
                    "its files inflate to over \(self.inflated) bytes: from \(PrintableText.line(entry.name)) on they are not read"
                )
                return
            }
            left -= entry.count
            do throws(ArtifactError) {
                self.add(name, kind, try archive.bytes(of: entry, maximum: kind.limit))
            } catch {
                self.note(unread: name, "\(error)")
            }
        }
    }

    private mutating func noteBundle(of path: String) {
        var parts: [Substring] = []
        for part in path.split(separator: "/", omittingEmptySubsequences: false) {
            parts.append(part)
            if part.hasSuffix(".app") || part.hasSuffix(".appex") { self.bundles.insert(parts.joined(separator: "/")) }
        }
    }

    // MARK: The whole

    /// Decides what only the whole can, and gives the report.
    ///
    /// - Parameter known: The fingerprints of a baseline.
    public consuming func report(known: Set<String> = []) -> AuditReport {
        self.resolveSessions()
        self.comparePins()
        for (_, all) in Dictionary(grouping: self.certificates, by: \.path) {
            self.findings += AppCertificate.findings(of: all, at: self.time)
        }
        self.findings += self.metadata.findings(
            bundles: self.bundles, facts: self.facts, hasList: self.list != nil, at: self.time)
        self.raiseCleartext()
        self.resolveTrustKit()
        return AuditReport(
            findings: self.findings, surfaces: self.surfaces, notes: self.notes, files: self.fileCount,
            allowances: self.allowances, known: known)
    }

    private mutating func resolveSessions() {
        var handlers: [String: NetworkSurface.Pinning] = [:]
        var types: Set<String> = []
        for facts in self.facts {
            types.formUnion(facts.types)
            for (type, pinning) in facts.handlers where handlers[type] == nil || handlers[type] == .unpinned {
                handlers[type] = pinning
            }
        }
        for facts in self.facts {
            for session in facts.sessions {
                var pinning: NetworkSurface.Pinning
                if let delegate = session.delegate {
                    // A type of the app that answers no challenge leaves them to the system.
                    pinning =
                        handlers[delegate] ?? (types.contains(delegate) ? .unpinned : Self.pinning(byName: delegate))
                } else {
                    pinning = .unknown
                }
                if !session.isSure, pinning != .unpinned { pinning = .unknown }
                self.surfaces.append(NetworkSurface(session.kind, pinning, in: facts.text.path, line: session.line))
                guard pinning == .unpinned, let delegate = session.delegate else { continue }
                self.findings.append(
                    facts.text.finding(session.rule, line: session.line, "its delegate \(delegate) checks no pins"))
            }
        }
    }

    private static func pinning(byName delegate: String) -> NetworkSurface.Pinning {
        ["PinnedSessionDelegate", "PinnedNavigationDelegate"].contains(delegate) ? .pinned : .unknown
    }

    private mutating func comparePins() {
        let listed = self.list?.digests
        let rawKeys = Dictionary(
            self.certificates.compactMap { certificate in certificate.rawKeyDigest.map { ($0, certificate) } }
        ) { first, _ in first }
        for (pin, text, isConfigured) in self.pins {
            let host = pin.host.map { "for \($0)" } ?? "for a host that does not stand beside it"
            let line = pin.line > 0 ? pin.line : nil
            if let certificate = rawKeys[pin.digest] {
                self.findings.append(
                    text.finding(
                        .pinOfRawKey, line: line,
                        "the hash of the raw key of \(certificate.path) (\(certificate.subject)); its pin is \(Base64.encode(certificate.keyDigest))"
                    ))
            } else if let listed, listed.contains(pin.digest) {
                continue
            } else if pin.isNamed {
                // In a configuration pins belong, and those of a host of the list were compared with it.
                if isConfigured, listed == nil || pin.host.flatMap({ self.list?.entry(for: $0) }) != nil { continue }
                let rule: AuditRule = listed == nil ? .pinInSource : .pinNotInList
                self.findings.append(text.finding(rule, line: line, "\(Base64.encode(pin.digest)) \(host)"))
            }
        }
    }

    /// Pins of TrustKit that are not enforced, or whose day is past, pin nothing.
    private mutating func resolveTrustKit() {
        let rules: [AuditRule] = [.trustKitNotEnforced, .trustKitExpired]
        let off = Set(self.findings.filter { $0.severity == .error && rules.contains($0.rule) }.map(\.file))
        self.surfaces = self.surfaces.map { surface in
            guard surface.kind == "TrustKit", off.contains(surface.file) else { return surface }
            return NetworkSurface(surface.kind, .unpinned, in: surface.file, line: surface.line)
        }
    }

    /// Cleartext to a host of the list is an error.
    private mutating func raiseCleartext() {
        guard let list = self.list else { return }
        self.findings = self.findings.map { finding in
            guard finding.rule == .cleartext, let address = WebAddress(finding.message),
                list.entry(for: address.host) != nil
            else { return finding }
            return AuditFinding(
                .cleartext, .error, in: finding.file, line: finding.line, context: finding.context,
                "\(finding.message), which the list pins")
        }
    }
}

extension AppCertificate {
    /// The findings about the certificates of one file: each, or of a store of many their number.
    static func findings(of certificates: [AppCertificate], at time: Timestamp) -> [AuditFinding] {
        guard certificates.count > 4, let path = certificates.first?.path else {
            return certificates.flatMap { $0.findings(at: time) }
        }
        let ended = certificates.count { certificate in certificate.end.map { $0 < time } ?? false }
        return [
            AuditFinding(
                .certificate, in: path, "a store of \(certificates.count) certificates, \(ended) of them expired")
        ]
    }

    private func findings(at time: Timestamp) -> [AuditFinding] {
        guard let end = self.end else {
            return [AuditFinding(.certificate, in: self.path, "\(self.subject): its end cannot be read")]
        }
        let pin = Base64.encode(self.keyDigest)
        let days = (end.secondsSince1970 - time.secondsSince1970) / 86_400
        if end < time {
            return [AuditFinding(.certificateExpired, in: self.path, "\(self.subject) ended on \(end); pin \(pin)")]
        }
        if days < 60 {
            return [AuditFinding(.certificateExpiring, in: self.path, "\(self.subject) ends on \(end); pin \(pin)")]
        }
        return [AuditFinding(.certificate, in: self.path, "\(self.subject), until \(end); pin \(pin)")]
    }
}
