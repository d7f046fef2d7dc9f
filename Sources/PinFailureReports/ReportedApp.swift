// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinListMetadata

/// The members of a report about the app that sends it. They hold no identifier of a device unless the app gives one.
public struct ReportedApp: Hashable, Sendable {
    /// The bundle identifier, or its equivalent on this platform.
    public var bundleID: String
    /// The app's version.
    public var version: String
    /// The platform, such as `IOS` (as TrustKit writes it) or `LINUX`.
    public var platform: String
    /// The platform's version.
    public var platformVersion: String
    /// An identifier that the vendor gave this installation; by default none.
    public var vendorID: String?

    /// Creates the description of an app.
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
