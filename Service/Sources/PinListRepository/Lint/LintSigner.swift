// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
public import Foundation
public import PinListMetadata

/// A signer that the source names, with the id of its key.
public struct LintSigner: Hashable, Sendable {
    /// The metadata that it signs.
    public let kind: MetadataRole

    /// Its name in the source.
    public let name: String

    /// The id of its key.
    public let keyID: String

    /// States a signer.
    public init(_ kind: MetadataRole, named name: String, keyID: String) {
        self.kind = kind
        self.name = name
        self.keyID = keyID
    }

    /// The signers of a source whose public keys are at hand: those in files with `.pub` beside them. A token and a
    /// program are not asked.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - folder: The folder that relative paths begin in.
    public static func signers(of source: ListSource, in folder: URL) -> [LintSigner] {
        var named: [(kind: MetadataRole, name: String)] = source.signers.root.map { (.root, $0) }
        named += source.signers.pins.map { (.pins, $0) }
        return named.compactMap { kind, name in
            guard case .file(let path)? = try? KeyName(name) else { return nil }
            let file = path.hasPrefix("/") ? path : folder.appendingPathComponent(path).path
            let known = KeyFile.publicPath(of: file)
            guard let bytes = try? BoundedFile.read(known, maximum: PublicKeyForm.maximumLength),
                let key = try? PublicKeyForm.metadataKey(in: bytes, named: known)
            else { return nil }
            return LintSigner(kind, named: name, keyID: key.keyID)
        }
    }
}

extension LintPass {
    /// Signers whose signature would count for nothing, neither for a role nor for its hybrid demand.
    var signerFindings: [LintFinding] {
        guard let root else { return [] }
        return self.signers.filter { signer in
            let role = signer.kind == .root ? root.root : root.pins
            return !role.keyIDs.contains(signer.keyID) && role.hybrid?.keyIDs.contains(signer.keyID) != true
        }.map { signer in
            let key = "key \(signer.keyID.prefix(16))…"
            return LintFinding(.signerNotInRoot, "signers", "\(signer.name), \(key), for \(signer.kind.rawValue)")
        }
    }
}
