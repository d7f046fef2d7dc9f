// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The way an app comes to a device. What may be true of its signature depends on it.
public struct Distribution: Hashable, Sendable, CustomStringConvertible {
    /// `store`, `testflight`, `ad-hoc`, `enterprise`, `developer-id` or `development`.
    public let description: String

    private init(_ description: String) { self.description = description }

    /// From the App Store or the Mac App Store, which sign again and encrypt: no hash of a build is known beforehand.
    public static let store = Self("store")
    /// By TestFlight. Its receipt is absent at first, and whether a profile stays in the app was not found out: neither
    /// is judged.
    public static let testFlight = Self("testflight")
    /// On devices that a provisioning profile names. (No signature "ad hoc", which is one without a certificate.)
    public static let adHoc = Self("ad-hoc")
    /// Within an organisation, on all devices that trust its profile.
    public static let enterprise = Self("enterprise")
    /// On a Mac, outside of the store.
    public static let developerID = Self("developer-id")
    /// From Xcode, or from another build of one's own. Nothing is judged, and that is reported.
    public static let development = Self("development")
}
