// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
internal import CRuntimeProbe
internal import Foundation

extension AppleMachine {
    /// The first image of dyld's list.
    public func programPath() throws(Unobservable) -> String {
        guard probe_images() > 0, let path = probe_image(0) else { throw Unobservable(.missing, "program") }
        return String(cString: path)
    }

    /// By the main bundle.
    public func bundleIdentifier() throws(Unobservable) -> String {
        guard let identifier = Bundle.main.bundleIdentifier else { throw Unobservable(.missing, "bundle") }
        return identifier
    }

    /// By the main bundle.
    public func receiptPath() throws(Unobservable) -> String {
        guard let path = Bundle.main.appStoreReceiptURL?.path else { throw Unobservable(.missing, "receipt") }
        return path
    }
}
#endif
