// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// How an app expects to have been distributed: what is otherwise is a sign that it was packaged again.
///
/// A release declares its own; a debug build is not judged. An app that is built for several ways of distribution declares
/// another one in each build.
public struct DeclaredDistribution: Hashable, Sendable {
    /// The way.
    public var distribution: Distribution

    /// The identifier of the team that signs: ten letters and digits.
    public var team: String

    /// The bundle identifier of the program that looks: of an extension its own.
    public var bundleIdentifier: String

    /// The hashes of the CodeDirectory of each part of each build in use; empty for not knowing.
    ///
    /// `scripts/code-directory-hash` prints them, of a build that is signed. They cannot stand in the program that they are
    /// the hashes of: an app gets them from its own server, by a way that is protected. Not looked at where a store signs
    /// again.
    public var codeDirectoryHashes: Set<CodeDirectoryHash>

    /// Creates a declaration.
    ///
    /// - Parameters:
    ///   - distribution: The way.
    ///   - team: The identifier of the team that signs: ten letters and digits.
    ///   - bundleIdentifier: The bundle identifier of the program that looks.
    ///   - codeDirectoryHashes: The hashes of the builds in use; empty for not knowing.
    public init(
        _ distribution: Distribution, team: String, bundleIdentifier: String,
        codeDirectoryHashes: Set<CodeDirectoryHash> = []
    ) {
        self.distribution = distribution
        self.team = team
        self.bundleIdentifier = bundleIdentifier
        self.codeDirectoryHashes = codeDirectoryHashes
    }
}
