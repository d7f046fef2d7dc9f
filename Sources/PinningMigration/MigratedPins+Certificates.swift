// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

extension MigratedPins {
    /// Pins hosts to certificates that an app carries, as Alamofire's evaluators and AFNetworking do.
    ///
    /// A pin may match anywhere in the validated path. Alamofire compares with all that the server sent when default
    /// validation is off, and AFNetworking uses the certificates as anchors: here the platform must validate the path
    /// first, so a self-signed certificate that the platform does not trust stays refused.
    ///
    /// - Parameters:
    ///   - certificates: The certificates of each host: DER, or a PEM text.
    ///   - kind: Whether the public keys are pinned, which survive a renewal with the same key, or the certificates.
    ///   - includeSubdomains: Whether names under each host are covered, too. Alamofire matches hosts exactly.
    /// - Throws: ``MigrationError`` when there is no host.
    public init<Certificate: Collection<UInt8>>(
        certificates: [String: [Certificate]], pinning kind: Pin.Kind = .publicKey, includeSubdomains: Bool = false
    ) throws(MigrationError) {
        var reader = CertificateReader(kind: kind)
        for (name, files) in certificates.sorted(by: { $0.key < $1.key }) {
            guard let host = reader.collector.host(name, "certificates") else { continue }
            var pins: [KnownPin] = []
            for (index, file) in files.prefix(MigrationLimits.files).enumerated() {
                pins += reader.pins(file, named: "certificate \(index + 1)", of: name)
            }
            if files.count > MigrationLimits.files {
                reader.collector.warn(
                    name, "certificates", .stricter, "only the first \(MigrationLimits.files) certificates are read")
            }
            let entry = PinnedDomain(host, includeSubdomains: includeSubdomains, pins: pins)
            try reader.collector.add(entry, written: name, "certificates")
        }
        self = try MigratedPins(reader.collector)
    }
}

/// Makes pins of files with certificates.
struct CertificateReader {
    /// The part of a certificate that is pinned.
    let kind: Pin.Kind
    /// The entries and warnings so far.
    var collector = MigrationCollector()

    /// Creates an empty collection.
    init(kind: Pin.Kind) { self.kind = kind }

    /// The pins of a file: one certificate in DER, or PEM with any number of them.
    mutating func pins(_ file: some Collection<UInt8>, named name: String, of host: String?) -> [KnownPin] {
        guard file.count <= MigrationLimits.fileBytes else {
            self.collector.warn(host, name, .stricter, "left out: over \(MigrationLimits.fileBytes) bytes")
            return []
        }
        var certificates = [Array(file)]
        // A DER certificate begins with 0x30, and so may the text that openssl prints around a PEM block.
        if file.first != 0x30 || self.isText(certificates[0]) {
            do throws(InputError) {
                certificates = try PEMBlock.blocks(in: file).filter { $0.label == PEMBlock.certificateLabel }
                    .map(\.bytes)
            } catch {
                self.collector.warn(host, name, .stricter, "left out: \(error)")
                return []
            }
            if certificates.isEmpty {
                self.collector.warn(host, name, .stricter, "left out: there is no certificate in it")
            }
        }
        var pins: [KnownPin] = []
        for certificate in certificates.prefix(MigrationLimits.files) {
            do throws(InvalidCertificateError) {
                // Also for a certificate pin: an unreadable certificate can never be in a validated path.
                let publicKey = try Pin(publicKeyOf: certificate)
                pins.append(
                    KnownPin(self.kind == .publicKey ? publicKey : Pin(kind: .certificate, hashing: certificate)))
            } catch {
                self.collector.warn(host, name, .stricter, "left out, no certificate: \(error)")
            }
        }
        return pins
    }

    private func isText(_ bytes: [UInt8]) -> Bool { bytes.prefix(64).allSatisfy { (9...126).contains($0) } }
}
