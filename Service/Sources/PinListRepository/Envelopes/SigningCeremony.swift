// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import PinListMetadata

/// Adds signatures to an envelope, here and now, or one signer after the other in different places on different days.
///
/// Nothing that a signer says is believed: its answer must verify under a key of the role, or there is no envelope.
public struct SigningCeremony: Sendable {
    /// A signature that was added.
    public struct Addition: Hashable, Sendable {
        /// The signer, as people named it.
        public let signer: String
        /// The key under which its signature verified.
        public let keyID: String
        /// Whether this key had signed before; its new signature took the place of the old one.
        public let isReplacement: Bool
    }

    /// The metadata to sign.
    public let metadata: SignableMetadata

    /// The demands that are known, hybrid ones included. A list must meet those of each root that was given. A root must
    /// meet its own, and those of the root before it.
    public let demands: [SignatureDemand]

    /// The version of the previous root, whose threshold counts and which was not given.
    public let unknownRoot: Int64?

    /// The envelope so far.
    public private(set) var envelope: Envelope

    /// The signatures that were added, in order.
    public private(set) var additions: [Addition] = []

    /// Begins with a payload or an envelope.
    ///
    /// - Parameters:
    ///   - metadata: A payload, or an envelope with some of the signatures.
    ///   - roots: Roots whose keys may sign. Of a root that is signed, only the one before it counts.
    /// - Throws: ``RepositoryError`` when no root fits, the names differ, or the payload has unknown members.
    public init(_ metadata: SignableMetadata, under roots: [Root]) throws(RepositoryError) {
        guard metadata.unknownMembers.isEmpty else {
            throw RepositoryError(
                .metadata,
                "the payload has members that are unknown here: \(metadata.unknownMembers.joined(separator: ", "))",
                hint: "unknown members must not be signed; is this tumbler older than the payload?")
        }
        for root in roots where root.name != metadata.name {
            throw RepositoryError(
                .metadata, "root \(root.version) is for \(root.name), and the metadata to sign is for \(metadata.name)")
        }
        self.metadata = metadata
        self.envelope = metadata.envelope
        switch metadata.content {
        case .pins:
            guard !roots.isEmpty else {
                throw RepositoryError(.usage, "a list is signed for a root, and none was given", hint: "--root FILE")
            }
            self.demands = roots.flatMap { SignatureDemand.all(.pins, of: $0) }
            self.unknownRoot = nil
        case .root(let root):
            let previous = roots.first { $0.version == root.version - 1 }
            self.demands = ([root, previous].compactMap { $0 }).flatMap { SignatureDemand.all(.root, of: $0) }
            self.unknownRoot = root.version > 1 && previous == nil ? root.version - 1 : nil
        }
    }

    /// The number of signatures that are still missing; a key that counts for two demands is counted for each.
    public var missing: Int { self.demands.reduce(0) { $0 + $1.missing(in: self.envelope) } }

    /// Whether every demand is met, as far as all are known.
    public var isComplete: Bool { self.missing == 0 && self.unknownRoot == nil }

    /// Signs with one signer.
    ///
    /// - Throws: ``RepositoryError``; then nothing was added.
    public mutating func add(_ signer: some MetadataSigner) async throws(RepositoryError) {
        let message = self.envelope.signedBytes
        let answer: [UInt8]
        do { answer = try await signer.signature(over: message) } catch let error as RepositoryError {
            throw error
        } catch {
            throw RepositoryError(.signer, "\(signer.name): \(error)")
        }
        let (key, signature) = try self.key(that: answer, of: signer.name, over: message)
        var signatures = self.envelope.signatures.filter { old in
            old.keyID != key.keyID && !key.isValidSignature(old.bytes, for: message)
        }
        let isReplacement = signatures.count < self.envelope.signatures.count
        signatures.append(Envelope.Signature(keyID: key.keyID, bytes: signature))
        guard signatures.count <= MetadataLimits.signatures else {
            throw RepositoryError(
                .metadata,
                "the envelope would have over \(MetadataLimits.signatures) signatures, and no client reads that")
        }
        self.envelope.signatures = signatures
        self.additions.append(Addition(signer: signer.name, keyID: key.keyID, isReplacement: isReplacement))
    }

    /// The lengths of signatures of the known algorithms, in bytes.
    private static let lengths = Set(MetadataKey.Algorithm.allCases.compactMap(\.signatureLength))

    /// The key under which an answer verifies, and the answer as the raw bytes of its algorithm.
    private func key(
        that answer: [UInt8], of signer: String, over message: [UInt8]
    ) throws(RepositoryError) -> (MetadataKey, [UInt8]) {
        let readings = [answer, ECDSASignature.raw(ofDER: answer)].compactMap { $0 }
            .filter { Self.lengths.contains($0.count) }
        guard !readings.isEmpty else {
            throw RepositoryError(
                .signer, "\(signer) answered \(answer.count) bytes that are not a signature",
                hint: "a signature is 64 raw bytes, 3,309 of ML-DSA-65, or, for P-256, DER; not base64, no line break")
        }
        for key in self.demands.flatMap(\.keys) {
            for reading in readings where key.isValidSignature(reading, for: message) { return (key, reading) }
        }
        let roots = Set(self.demands.map(\.rootVersion)).sorted().map { "root \($0)" }.joined(separator: " or ")
        throw RepositoryError(
            .signer, "\(signer): this key may not sign \(self.metadata.kind.rawValue) under \(roots)",
            hint: "tumbler key show prints the key's id, tumbler root show those of the root")
    }
}
