// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinListMetadata

/// What a report says of the app that sends it. No identifier of a device is in it unless the app gives one.
public struct ReportedApp: Hashable, Sendable {
    /// The bundle identifier, or what stands for it on this platform.
    public var bundleID: String
    /// The app's version.
    public var version: String
    /// The platform, such as `IOS` (TrustKit writes it so) or `LINUX`.
    public var platform: String
    /// The platform's version.
    public var platformVersion: String
    /// An identifier that the vendor gave this installation; by default there is none.
    public var vendorID: String?

    /// Describes an app.
    public init(
        bundleID: String, version: String, platform: String, platformVersion: String, vendorID: String? = nil
    ) {
        self.bundleID = bundleID
        self.version = version
        self.platform = platform
        self.platformVersion = platformVersion
        self.vendorID = vendorID
    }

    /// TrustKit's members.
    var members: [JSONValue.Member] {
        var members: [JSONValue.Member] = [
            .init("app-bundle-id", .string(self.bundleID)), .init("app-version", .string(self.version)),
            .init("app-platform", .string(self.platform)),
            .init("app-platform-version", .string(self.platformVersion)),
        ]
        if let vendorID { members.append(.init("app-vendor-id", .string(vendorID))) }
        return members
    }
}
