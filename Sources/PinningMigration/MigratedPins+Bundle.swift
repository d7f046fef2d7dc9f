// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@_spi(Tools) public import CertificatePinning
public import Foundation

extension MigratedPins {
    /// Pins hosts to all certificates of a bundle, as AFNetworking and Alamofire's `Bundle.main.af.certificates` do:
    /// its files `*.cer`, `*.crt` and `*.der`, in either case.
    ///
    /// - Parameters:
    ///   - bundle: The bundle, such as that of the app.
    ///   - hosts: The hosts. All certificates are pinned for each of them, because no file says which one is for which
    ///     host.
    ///   - kind: Whether public keys are pinned, or the certificates.
    ///   - includeSubdomains: Whether names under each host are covered, too.
    /// - Throws: ``MigrationError`` when there is no such file, or no host.
    public init(
        bundledCertificates bundle: Bundle, for hosts: [String], pinning kind: Pin.Kind = .publicKey,
        includeSubdomains: Bool = false
    ) throws(MigrationError) {
        // Where a file system ignores case, both forms find the same file; repeated pins are removed.
        var paths: Set<String> = []
        for type in ["cer", "CER", "crt", "CRT", "der", "DER"] {
            paths.formUnion(bundle.paths(forResourcesOfType: type, inDirectory: nil))
        }
        guard !paths.isEmpty else {
            throw MigrationError(
                .file, "the bundle has no .cer, .crt or .der file",
                hint: "check the target's Copy Bundle Resources phase")
        }
        var reader = CertificateReader(kind: kind)
        let pins = try reader.pins(of: paths.sorted().map { URL(fileURLWithPath: $0) })
        for name in hosts.sorted() {
            guard let host = reader.collector.host(name, "bundledCertificates") else { continue }
            let entry = PinnedDomain(host, includeSubdomains: includeSubdomains, pins: pins)
            try reader.collector.add(entry, written: name, "bundledCertificates")
        }
        self = try MigratedPins(reader.collector)
    }

    /// Pins hosts to certificates of a bundle, by the names of their files.
    ///
    /// - Parameters:
    ///   - bundle: The bundle, such as that of the app.
    ///   - names: For each host the names of its files, such as `api.cer`.
    ///   - kind: Whether public keys are pinned, or the certificates.
    ///   - includeSubdomains: Whether names under each host are covered, too.
    /// - Throws: ``MigrationError`` when one of these files is missing, or there is no host.
    public init(
        bundledCertificates bundle: Bundle, named names: [String: [String]], pinning kind: Pin.Kind = .publicKey,
        includeSubdomains: Bool = false
    ) throws(MigrationError) {
        var reader = CertificateReader(kind: kind)
        for (name, files) in names.sorted(by: { $0.key < $1.key }) {
            guard let host = reader.collector.host(name, "bundledCertificates") else { continue }
            var urls: [URL] = []
            for file in files {
                guard let url = bundle.url(forResource: file, withExtension: nil) else {
                    throw MigrationError(
                        .file, "the bundle has no file \(PrintableText.line(file, maximumLength: 128))",
                        hint: "check the target's Copy Bundle Resources phase")
                }
                urls.append(url)
            }
            let entry = PinnedDomain(host, includeSubdomains: includeSubdomains, pins: try reader.pins(of: urls))
            try reader.collector.add(entry, written: name, "bundledCertificates")
        }
        self = try MigratedPins(reader.collector)
    }
}

extension CertificateReader {
    /// The pins of some files.
    fileprivate mutating func pins(of files: [URL]) throws(MigrationError) -> [KnownPin] {
        guard files.count <= MigrationLimits.files else {
            throw MigrationError(
                .tooLarge, "over \(MigrationLimits.files) certificate files", hint: "name those that are pinned")
        }
        var pins: [KnownPin] = []
        for file in files {
            let bytes: [UInt8]
            do {
                let handle = try FileHandle(forReadingFrom: file)
                defer { try? handle.close() }
                bytes = try BoundedBytes.read(upTo: MigrationLimits.fileBytes) { try handle.read(upToCount: $0) }
            } catch {
                throw MigrationError(
                    .file, "\(file.lastPathComponent) cannot be read", hint: "check that it is a file that can be read")
            }
            pins += self.pins(bytes, named: file.lastPathComponent, of: nil)
        }
        return pins
    }
}
