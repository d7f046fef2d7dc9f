// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import PinListMetadata

/// One envelope of several over the same payload, from signers who never met.
public enum EnvelopeUnion {
    /// Joins envelopes.
    ///
    /// Signatures are neither verified nor dropped here: which of them count is decided by a root. The same signature
    /// is taken once.
    ///
    /// - Parameter parts: The metadata, with the names of the files.
    /// - Returns: One envelope over the very bytes of the payload.
    /// - Throws: ``RepositoryError`` when payloads differ, one is no envelope, or there would be too many signatures.
    public static func join(_ parts: [(name: String, metadata: SignableMetadata)]) throws(RepositoryError) -> Envelope {
        guard let first = parts.first else { throw RepositoryError(.usage, "there is no envelope to combine") }
        var joined = first.metadata.envelope
        var seen = Set<Envelope.Signature>()
        joined.signatures = []
        for part in parts {
            guard part.metadata.isEnvelope else {
                throw RepositoryError(
                    .metadata, "\(part.name) is a payload, not an envelope",
                    hint: "tumbler sign makes an envelope of it")
            }
            let envelope = part.metadata.envelope
            guard envelope.payloadType == joined.payloadType, envelope.payload == joined.payload else {
                throw RepositoryError(
                    .metadata, "\(part.name) is over another payload than \(first.name)",
                    hint: "\(part.metadata.payloadDigest) there, \(first.metadata.payloadDigest) here")
            }
            joined.signatures += envelope.signatures.filter { seen.insert($0).inserted }
        }
        guard joined.signatures.count <= MetadataLimits.signatures else {
            throw RepositoryError(
                .metadata, "together these are over \(MetadataLimits.signatures) signatures, and no client reads that")
        }
        return joined
    }
}
