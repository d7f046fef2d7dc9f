// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import PinListMetadata

/// Reads what a client trusts without being one: nothing is written, fetched or put in force.
@_spi(Tools)
public enum StoredTrust {
    /// What is trusted by a client with this root and this state.
    ///
    /// - Parameters:
    ///   - root: The envelope of the root that the app ships.
    ///   - state: Where the client keeps its state.
    /// - Returns: What is trusted, and what was found wrong in the state, a sentence each.
    /// - Throws: ``MetadataRefusal`` when the root does not verify.
    public static func load(
        root: [UInt8], state: StateLocation
    ) throws(MetadataRefusal) -> (trust: TrustState, findings: [String]) {
        var trust = try TrustState(bundledRoot: root, bundledList: nil)
        let archive = ListArchive(store: state.store(of: trust.chain.newest.name), limits: MetadataLimits())
        let findings = archive.load(into: &trust)
        return (trust, findings.map(\.detail))
    }
}
