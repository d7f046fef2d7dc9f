// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import PinListMetadata

/// A root that someone names as a file.
public enum RootFile {
    /// Reads a signed root, which must carry a threshold of its own keys.
    ///
    /// Nobody else vouches for it here: it is the operator who says that this is the root.
    ///
    /// - Throws: ``RepositoryError`` when it cannot be read or does not verify.
    public static func read(_ path: String) throws(RepositoryError) -> (root: Root, bytes: [UInt8]) {
        let bytes = try BoundedFile.read(path, most: MetadataLimits().rootBytes)
        do throws(MetadataRefusal) {
            return (try RootChain(shipped: bytes).newest, bytes)
        } catch {
            let isPayload = (try? Root(payload: bytes)) != nil
            throw RepositoryError(
                .metadata, "\(path): \(isPayload ? "the root is not signed yet" : "\(error.code): \(error.detail)")",
                hint: isPayload ? "tumbler sign \(path) --key KEY -o ENVELOPE" : nil)
        }
    }
}
