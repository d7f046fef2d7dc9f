// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import PinListMetadata
public import PinRotation

/// Puts the new pin of a rotation into a source, or takes pins out: whole lines come and go, every other byte stays, in
/// `tumbler.yaml` and in what it includes (formats.md, section 9). What comes out was read again, and says exactly what
/// was meant.
public struct PinEdit: Sendable {
    /// A file that is to be written.
    public struct Change: Hashable, Sendable {
        /// Its path, from the folder of the source.
        public let path: String
        /// The current content.
        public let before: [UInt8]
        /// The new content.
        public let after: [UInt8]

        /// States a change.
        public init(path: String, before: [UInt8], after: [UInt8]) {
            self.path = path
            self.before = before
            self.after = after
        }
    }

    /// The source as it stands.
    public let source: ListSource

    private let file: String
    private let files: any SourceFiles

    /// Reads what is to be edited.
    ///
    /// - Parameters:
    ///   - file: The path of the source.
    ///   - files: The reader of it and of the files that it names.
    /// - Throws: ``RepositoryError`` for a source that cannot be read.
    public init(_ file: String, files: some SourceFiles) throws(RepositoryError) {
        let bytes: [UInt8]
        do { bytes = try files.bytes(of: file, limit: ListSource.maximumLength) } catch {
            throw RepositoryError(error.code, "\(file): \(error.reason)", hint: error.hint)
        }
        self.source = try ListSource(bytes, file: file, files: files)
        self.file = file
        self.files = files
    }

    /// The places where the pins of a rotation are written: the entries that are concerned, that of the host first, and
    /// the pin set, where they are in one.
    ///
    /// - Throws: ``RepositoryError`` when the host has no entry or not these pins, or they are written in two places.
    public func scope(
        of old: [Pin], at host: HostName
    ) throws(RepositoryError) -> (entries: [HostName], pinSet: String?) {
        let (place, entries) = try self.place(of: old, at: host)
        return (entries, place.pinSet)
    }

    /// The files with the new pin in front of the others; none where each entry has it already.
    ///
    /// - Throws: ``RepositoryError`` that says what to type, where it cannot be put in by whole lines.
    public func announcing(_ plan: RotationPlan) throws(RepositoryError) -> [Change] {
        let concerned = self.domains(of: plan)
        guard !concerned.allSatisfy({ $0.pins.contains { $0.known.pin == plan.new.pin } }) else { return [] }
        let (place, _) = try self.place(of: plan.old.map(\.pin), at: plan.host)
        let item = YAMLWriter.line(KnownPin(plan.new.pin, position: plan.new.position))
        let byHand = Self.byHand("write \(item) into", place)
        let bytes = try self.bytes(of: place.file)
        let lines = try SequenceLines(bytes, file: place.file, what: "the list of pins", byHand: byHand)
        let after = try lines.inserting(item, into: place.member)
        return try self.checked([place.file: after], plan, byHand) { pins in
            pins.union([KnownPin(plan.new.pin, position: plan.new.position)])
        }
    }

    /// The files without the old pins; none where no entry has one.
    ///
    /// - Throws: ``RepositoryError`` that says what to type, where they cannot be taken out by whole lines.
    public func retiring(_ plan: RotationPlan) throws(RepositoryError) -> [Change] {
        try self.removing(Set(plan.old.map(\.pin)), plan)
    }

    /// The files without the new pin; none where no entry has it.
    ///
    /// - Throws: ``RepositoryError`` that says what to type, where it cannot be taken out by whole lines.
    public func aborting(_ plan: RotationPlan) throws(RepositoryError) -> [Change] {
        try self.removing([plan.new.pin], plan)
    }

    private func removing(_ pins: Set<Pin>, _ plan: RotationPlan) throws(RepositoryError) -> [Change] {
        var edited = EditedFiles(self.files)
        var hint = "remove the pins from \(self.file) by hand"
        // Each removal moves the lines behind it: what is left is looked for again.
        for _ in 0..<(MetadataLimits.pins * max(1, plan.entries.count)) {
            let source = try self.source(edited)
            let concerned = source.domains.filter { plan.entries.contains($0.host) }
            guard let pin = concerned.lazy.flatMap(\.pins).first(where: { pins.contains($0.known.pin) }) else { break }
            let bytes = try edited.bytes(of: pin.position.file, limit: ListSource.maximumLength)
            let place = try PinPlace(of: pin.position, in: bytes)
            hint = Self.byHand("remove \(pin.known.pin) from", place)
            guard let element = place.elements.first(where: { $0.position == pin.position }) else { break }
            let lines = try SequenceLines(bytes, file: place.file, what: "the list of pins", byHand: hint)
            edited.edited[place.file] = try lines.removing(element, from: place.member)
        }
        return try self.checked(edited.edited, plan, hint) { known in known.filter { !pins.contains($0.pin) } }
    }

    // MARK: Where pins are

    private func domains(of plan: RotationPlan) -> [SourceDomain] {
        self.source.domains.filter { plan.entries.contains($0.host) }
    }

    private func place(
        of old: [Pin], at host: HostName
    ) throws(RepositoryError) -> (place: PinPlace, entries: [HostName]) {
        guard let domain = self.source.domains.first(where: { $0.host == host }) else {
            let known = self.source.domains.map { "\($0.host)" }
            throw RepositoryError(
                .source, "\(host) has no entry in \(self.file)",
                hint: NearestName.of("\(host)", among: known).map { "there is \($0)" }
                    ?? "name the domain of an entry")
        }
        var found: [(SourcePosition, PinPlace)] = []
        for pin in old {
            guard let known = domain.pins.first(where: { $0.known.pin == pin }) else {
                throw domain.position.error(
                    "\(host) does not have the pin \(pin)", hint: "name the pins to remove with --old")
            }
            found.append(
                (known.position, try PinPlace(of: known.position, in: try self.bytes(of: known.position.file))))
        }
        guard let first = found.first else {
            throw domain.position.error(
                "no pin of \(host) is to be removed", hint: "name the pins to remove with --old")
        }
        guard found.allSatisfy({ $0.1.file == first.1.file && $0.1.member.position == first.1.member.position }) else {
            throw domain.position.error(
                "the pins to remove are written in two places",
                hint: "plan a rotation for each: --old names the pins of one")
        }
        let position = first.0
        let others = self.source.domains.filter { other in
            other.host != host && other.pins.contains { $0.position == position }
        }
        return (first.1, [host] + others.map(\.host))
    }

    private func bytes(of file: String) throws(RepositoryError) -> [UInt8] {
        do { return try self.files.bytes(of: file, limit: ListSource.maximumLength) } catch {
            throw RepositoryError(error.code, "\(file): \(error.reason)", hint: error.hint)
        }
    }

    private static func byHand(_ what: String, _ place: PinPlace) -> String {
        "\(what) \(place.pinSet.map { "the pin set \($0)" } ?? "pins:") in "
            + "\(place.file), line \(place.member.position.line), by hand, then type the command again"
    }

    // MARK: Reading again

    private func source(_ edited: EditedFiles) throws(RepositoryError) -> ListSource {
        try ListSource(
            try edited.bytes(of: self.file, limit: ListSource.maximumLength), file: self.file, files: edited)
    }

    /// Reads the result. Where it says anything else than was meant, nothing is written.
    private func checked(
        _ edited: [String: [UInt8]], _ plan: RotationPlan, _ hint: String,
        _ pins: (Set<KnownPin>) -> Set<KnownPin>
    ) throws(RepositoryError) -> [Change] {
        var files = EditedFiles(self.files)
        files.edited = edited
        var read: ListSource
        do { read = try self.source(files) } catch {
            throw RepositoryError(
                .source, "the source cannot be edited by whole lines as it is written (\(error.reason))", hint: hint)
        }
        let expected = self.source
        for index in expected.domains.indices where plan.entries.contains(expected.domains[index].host) {
            guard read.domains.indices.contains(index),
                read.domains[index].entry == expected.domains[index].entry,
                read.domains[index].knownPins == pins(expected.domains[index].knownPins)
            else { throw Self.otherwise(hint) }
            // They were compared.
            read.domains[index] = expected.domains[index]
        }
        guard read == expected else { throw Self.otherwise(hint) }
        var changes: [Change] = []
        for (path, after) in edited.sorted(by: { $0.key < $1.key }) {
            changes.append(Change(path: path, before: try self.bytes(of: path), after: after))
        }
        return changes
    }

    private static func otherwise(_ hint: String) -> RepositoryError {
        RepositoryError(
            .source, "an edit of whole lines would change more of the source than was asked for", hint: hint)
    }
}

extension SourceDomain {
    /// The published part of its pins, without notes.
    fileprivate var knownPins: Set<KnownPin> {
        Set(self.pins.map { KnownPin($0.known.pin, position: $0.known.position) })
    }
}

/// Files of which some were edited, and not written yet.
struct EditedFiles: SourceFiles {
    /// The files below.
    let files: any SourceFiles

    /// The edited files, by path.
    var edited: [String: [UInt8]] = [:]

    init(_ files: any SourceFiles) { self.files = files }

    func bytes(of path: String, limit: Int) throws(RepositoryError) -> [UInt8] {
        guard let bytes = self.edited[path] else { return try self.files.bytes(of: path, limit: limit) }
        guard bytes.count <= limit else { throw RepositoryError(.file, "over \(limit) bytes") }
        return bytes
    }
}
