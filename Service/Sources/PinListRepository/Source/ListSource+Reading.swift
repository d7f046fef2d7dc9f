// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
public import PinListMetadata
internal import PinRotation

extension ListSource {
    static let members = [
        "name", "validFor", "refreshAfter", "propagation", "opened", "unlisted", "reportTo",
        "reportPerMillion", "logs", "server", "signers",
        "verifiable",
        "include", "pinSets", "domains", "denied", "revoked", "suspended",
    ]

    /// Reads a source, the files that it includes, and those that its pins are from.
    ///
    /// - Parameters:
    ///   - bytes: The source itself: UTF-8, at most ``maximumLength``.
    ///   - file: Its name. Errors begin with it, and the files that it names are beside it.
    ///   - files: The reader of these files.
    /// - Throws: ``RepositoryError`` of code `source`, with file, line, column and what to write.
    public init(_ bytes: [UInt8], file: String, files: some SourceFiles) throws(RepositoryError) {
        let value = try YAMLReader.read(bytes, file: file)
        let object = try SourceObject(value, "tumbler.yaml", known: Self.members)
        self.file = file
        guard let name = try object.text("name") else { throw object.missing("name", "name: com.example.app") }
        guard Self.isName(name.value) else {
            throw name.position.error(
                "name is not a letter or digit and up to 127 of letters, digits, '.', '_', '-'",
                hint: "the app's identifier is a good name: com.example.app")
        }
        self.name = name.value
        self.validFor = try object.duration("validFor")?.value ?? Self.defaultValidFor
        self.refreshAfter = try object.duration("refreshAfter")?.value ?? PinList.defaultRefreshAfter
        self.propagation = try object.duration("propagation")?.value ?? Self.defaultPropagation
        self.opened = try object.value("opened").map { value throws(RepositoryError) in try AdoptionForecast(value) }
        self.unlisted = try object.choice("unlisted", default: UnlistedHosts.allow)
        self.reportTo = try object.addresses("reportTo")
        self.reportPerMillion =
            try object.integer("reportPerMillion", in: MetadataLimits.reportPerMillion)
            ?? MetadataLimits.reportPerMillion.upperBound
        self.logs = try SourceLogs(object, files: files)
        self.server = try object.text("server")
        if let server, !ReportAddress.isAllowed(server.value) {
            throw server.position.error(
                "server is not an https URL", hint: "write https://HOST; http is for loopback alone")
        }
        self.signers = try Self.signers(object)
        self.verifiable = try Self.verifiable(object)

        var reader = SourceSections(files: files)
        try reader.readPinSets(object)
        try reader.read(object, of: file, bytes: bytes.count)
        self.unusedPinSets = reader.pinSets.unused
        self.domains = reader.domains
        self.denied = reader.denied
        self.revoked = reader.revoked
        self.suspended = reader.suspended
    }

    /// `verifiable` of a source, and nothing else: the files that the source names need not be there. A signer does not
    /// always have them.
    ///
    /// - Throws: ``RepositoryError`` with the place.
    public static func verifiable(
        in bytes: [UInt8], file: String
    ) throws(RepositoryError) -> Set<MetadataKey.Algorithm> {
        try self.verifiable(
            try SourceObject(try YAMLReader.read(bytes, file: file), "tumbler.yaml", known: self.members))
    }

    private static func verifiable(_ object: SourceObject) throws(RepositoryError) -> Set<MetadataKey.Algorithm> {
        guard object.value("verifiable") != nil else { return self.defaultVerifiable }
        let known = MetadataKey.Algorithm.allCases
        var algorithms: Set<MetadataKey.Algorithm> = []
        for text in try object.texts("verifiable", maximum: MetadataLimits.keys) {
            let algorithm = MetadataKey.Algorithm(rawValue: text.value)
            guard known.contains(algorithm) else {
                throw text.position.error(
                    "verifiable names an algorithm that is not known here",
                    hint: NearestName.of(text.value, among: known.map(\.rawValue)).map { "write \($0)" }
                        ?? "known are \(known.map(\.rawValue).joined(separator: ", "))")
            }
            algorithms.insert(algorithm)
        }
        guard !algorithms.isEmpty else {
            throw object.position(of: "verifiable").error(
                "verifiable is empty: no client could verify anything", hint: "leave it out, or name algorithms")
        }
        return algorithms
    }

    private static func signers(_ object: SourceObject) throws(RepositoryError) -> Signers {
        guard let value = object.value("signers") else { return Signers(pins: [], root: []) }
        let signers = try SourceObject(value, "signers", known: ["pins", "root"])
        return Signers(
            pins: try signers.texts("pins", maximum: MetadataLimits.keys).map(\.value),
            root: try signers.texts("root", maximum: MetadataLimits.keys).map(\.value))
    }

    /// Whether a text is `[A-Za-z0-9][A-Za-z0-9._-]{0,127}`.
    static func isName(_ text: String) -> Bool {
        let isLetterOrDigit = { (byte: UInt8) in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: false
            }
        }
        guard let first = text.utf8.first, text.utf8.count <= MetadataLimits.nameBytes else { return false }
        return isLetterOrDigit(first) && text.utf8.allSatisfy { isLetterOrDigit($0) || "._-".utf8.contains($0) }
    }
}
