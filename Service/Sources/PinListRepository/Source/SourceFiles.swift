// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// How the files that a source names are read. The disk is a parameter, so that tests have none.
public protocol SourceFiles: Sendable {
    /// Reads a file whole.
    ///
    /// - Parameters:
    ///   - path: Its path: absolute, or from the folder that the source's own name is from.
    ///   - limit: The most bytes.
    /// - Throws: ``RepositoryError`` of code `file`, whose reason does not repeat the path.
    func bytes(of path: String, limit: Int) throws(RepositoryError) -> [UInt8]
}
