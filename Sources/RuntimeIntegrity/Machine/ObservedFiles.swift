// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The files of this machine.
public protocol ObservedFiles: Sendable {
    /// Whether there is something at this path. A link that leads nowhere is nothing.
    func exists(_ path: String) throws(Unobservable) -> Bool

    /// Where a symbolic link leads; `nil` when it is none, or nothing is there.
    func linkTarget(of path: String) throws(Unobservable) -> String?

    /// The bytes of a file; `nil` when there is none.
    ///
    /// - Throws: ``Unobservable`` when it cannot be read, or is larger than the limit.
    func contents(of path: String, atMost limit: Int) throws(Unobservable) -> [UInt8]?

    /// Some bytes of a file: as many as asked, or fewer at its end.
    ///
    /// - Throws: ``Unobservable`` when it cannot be read there.
    func bytes(of path: String, at offset: UInt64, count: Int) throws(Unobservable) -> [UInt8]
}
