// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// What Apple's sandbox lets through. All throw ``Unobservable`` where there is no such sandbox.
public protocol ObservedSandbox: Sendable {
    /// Whether a new file can be made at this path. It is removed again.
    func canWrite(at path: String) throws(Unobservable) -> Bool

    /// Whether the process can have a child.
    func canFork() throws(Unobservable) -> Bool

    /// Whether an app is installed that opens this scheme. The app lists it in `LSApplicationQueriesSchemes`.
    func canOpen(scheme: String) throws(Unobservable) -> Bool
}
