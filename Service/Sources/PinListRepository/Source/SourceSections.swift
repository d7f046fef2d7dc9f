// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// `domains`, `denied`, `revoked`, `suspended` of a source and of all that it includes, put together in that order.
struct SourceSections {
    /// The maximum number of files of a source, itself included.
    private static let maximumFiles = 64

    /// The maximum number of bytes of all of them, four of the largest files.
    private static let maximumBytes = 16 << 20

    private static let includedMembers = ["include", "domains", "denied", "revoked", "suspended"]

    private(set) var pinSets = PinSets()
    private(set) var domains: [SourceDomain] = []
    private(set) var denied: [Located<DeniedKey>] = []
    private(set) var revoked: [Located<RevokedCertificates>] = []
    private(set) var suspended: [Located<Suspension>] = []

    private let files: any SourceFiles
    private var material: SourceMaterial
    private var places: [HostName: SourcePosition] = [:]
    private var read: Set<String> = []
    private var serials: [Pin: Set<SerialNumber>] = [:]
    private var byteCount = 0

    init(files: some SourceFiles) {
        self.files = files
        self.material = SourceMaterial(files: files)
    }

    /// Reads the pin sets, which the entries of all files may use.
    ///
    /// - Throws: ``RepositoryError`` with the place.
    mutating func readPinSets(_ object: SourceObject) throws(RepositoryError) {
        if let value = object.value("pinSets") { self.pinSets = try PinSets(value, &self.material) }
    }

    /// Reads the sections of a file, then those of the files that it includes.
    ///
    /// - Throws: ``RepositoryError`` that names the file, line and column.
    mutating func read(_ object: SourceObject, of file: String, bytes: Int) throws(RepositoryError) {
        self.read.insert(SourcePath.normal(file))
        self.byteCount += bytes
        for value in try object.list("domains", maximum: MetadataLimits.domains) {
            let domain = try SourceDomain(value, &self.pinSets, &self.material)
            if let first = self.places.updateValue(domain.position, forKey: domain.host) {
                throw domain.position.error(
                    "\(domain.host) has an entry already, at \(first)", hint: "join the two: an entry holds all pins")
            }
            self.domains.append(domain)
            guard self.domains.count <= MetadataLimits.domains else {
                throw domain.position.error("over \(MetadataLimits.domains) entries")
            }
        }
        for value in try object.list("denied", maximum: MetadataLimits.denied) {
            self.denied.append(try DeniedKey.located(value, &self.material))
            guard self.denied.count <= MetadataLimits.denied else {
                throw value.position.error("over \(MetadataLimits.denied) denied keys")
            }
        }
        for value in try object.list("revoked", maximum: MetadataLimits.revokedIssuers) {
            self.revoked.append(try RevokedCertificates.located(value, &self.serials))
            guard self.revoked.count <= MetadataLimits.revokedIssuers,
                self.serials.values.reduce(0, { $0 + $1.count }) <= MetadataLimits.revokedSerials
            else {
                throw value.position.error(
                    "over \(MetadataLimits.revokedIssuers) entries of revoked, or \(MetadataLimits.revokedSerials) "
                        + "serial numbers in all",
                    hint: "remove expired certificates: they are refused anyway")
            }
        }
        for value in try object.list("suspended", maximum: MetadataLimits.suspended) {
            self.suspended.append(try Suspension.located(value))
            guard self.suspended.count <= MetadataLimits.suspended else {
                throw value.position.error("over \(MetadataLimits.suspended) suspensions")
            }
        }
        for included in try object.texts("include", maximum: Self.maximumFiles) {
            try self.include(included, from: file)
        }
    }

    private mutating func include(_ name: Located<String>, from file: String) throws(RepositoryError) {
        let path = SourcePath.beside(file, name.value)
        guard !self.read.contains(SourcePath.normal(path)) else {
            throw name.position.error(
                "\(path) is included already", hint: "include each file once, and none in a circle")
        }
        guard self.read.count < Self.maximumFiles else { throw name.position.error("over \(Self.maximumFiles) files") }
        let bytes: [UInt8]
        do { bytes = try self.files.bytes(of: path, limit: YAMLText.maximumLength) } catch {
            throw name.position.error("\(path): \(error.reason)", hint: "include: names files beside \(file)")
        }
        guard self.byteCount + bytes.count <= Self.maximumBytes else {
            throw name.position.error("the source is over \(Self.maximumBytes >> 20) MiB in all")
        }
        let value = try YAMLReader.read(bytes, file: path)
        try self.refuseSettings(value, from: file)
        let object = try SourceObject(value, "an included file", known: Self.includedMembers)
        try self.read(object, of: path, bytes: bytes.count)
    }

    /// An included file adds and never overrides: a setting in it would look as if it did.
    private func refuseSettings(_ value: YAMLValue, from file: String) throws(RepositoryError) {
        guard case .mapping(let members) = value.content else { return }
        let settings = [
            "name", "validFor", "refreshAfter", "propagation", "opened", "unlisted", "reportTo", "logs", "server",
            "signers",
            "verifiable", "pinSets",
        ]
        for member in members where settings.contains(member.name) {
            throw member.position.error(
                "\(member.name) in an included file", hint: "write it into \(file), which includes this one")
        }
    }
}
