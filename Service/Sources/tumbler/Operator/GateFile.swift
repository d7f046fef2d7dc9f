// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import PathValidation
import PinListMetadata
import PinListRepository
import PinRotation

/// The content of `--certificate FILE`: a chain, or a key of which no certificate is there yet.
enum GateFile: Sendable {
    /// A chain in DER, the server's certificate first.
    case chain([[UInt8]])
    /// The pin of the key in a request, or of a key.
    case key(Pin)

    /// Reads a file.
    ///
    /// - Throws: ``CommandError`` when it cannot be read, or holds neither.
    init(_ path: String) throws(CommandError) {
        let bytes = try InputFile.read(path)
        if let chain = try ChainFile.certificates(in: bytes, named: path) {
            self = .chain(chain)
            return
        }
        let found = try CommandError.wrapping { () throws(RepositoryError) in
            try PinnedMaterial.all(in: bytes, named: path)
        }
        guard let material = found.first, found.count == 1, material.kind != .certificate else {
            throw CommandError(
                .undecided, "\(path): this is neither one chain nor one key",
                hint: "a chain in PEM, the server's certificate first; or one request or key")
        }
        self = .key(material.pin)
    }

    /// The lower-case hex SHA-256 of the leaf's DER, or of the key's SubjectPublicKeyInfo.
    var digest: String {
        switch self {
        case .chain(let chain): Hexadecimal.text(of: Pin(kind: .certificate, hashing: chain.first ?? []).digest)
        case .key(let pin): Hexadecimal.text(of: pin.digest)
        }
    }

    /// The material that a server would present, with the validity of the certificates of its path.
    ///
    /// - Parameters:
    ///   - host: The server.
    ///   - roots: The anchors; a key needs none, and none are read for it.
    ///   - time: The time at which the certificates must be valid.
    /// - Throws: ``CommandError`` when there are no anchors.
    func material(
        for host: HostName, roots: () throws(CommandError) -> RootStore, at time: Timestamp
    ) async throws(CommandError) -> (GateMaterial, [CertificateLifetime?]) {
        switch self {
        case .key(let pin): return (.key(pin), [])
        case .chain(let chain):
            let validator = PathValidator(roots: try roots(), monotonicNanoseconds: monotonicNanoseconds)
            switch await validator.validate(presented: chain, as: .host(host), at: time).result {
            case .success(let path):
                return (.path(path), path.certificates.map { CertificateLifetime(ofCertificate: $0) })
            case .failure(let refusal): return (.invalid(refusal.reason, refusal.detail), [])
            }
        }
    }
}
