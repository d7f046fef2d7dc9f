// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// How this program was installed.
public protocol ObservedInstallation: Sendable {
    /// The path of the program's own file.
    func programPath() throws(Unobservable) -> String

    /// The bundle identifier that its `Info.plist` gives.
    func bundleIdentifier() throws(Unobservable) -> String

    /// Where a receipt of the store would be. Its name is `sandboxReceipt` in the store's test environment.
    func receiptPath() throws(Unobservable) -> String
}

/// A machine without apps, as Linux is one.
extension ObservedInstallation {
    /// Not known.
    public func programPath() throws(Unobservable) -> String { throw Unobservable(.unsupported, "program") }

    /// Not known.
    public func bundleIdentifier() throws(Unobservable) -> String { throw Unobservable(.unsupported, "bundle") }

    /// Not known.
    public func receiptPath() throws(Unobservable) -> String { throw Unobservable(.unsupported, "receipt") }
}
