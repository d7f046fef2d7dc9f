// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import PinFailureReports

extension ReportedApp {
    /// This process: its bundle's identifier and version, or its name; the platform, as TrustKit writes it. No
    /// identifier of a device or of a person.
    public static var thisProcess: ReportedApp {
        let system = ProcessInfo.processInfo.operatingSystemVersion
        let version = Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
        return ReportedApp(
            bundleID: Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName,
            version: version ?? "unknown",
            platform: Self.platform,
            platformVersion: "\(system.majorVersion).\(system.minorVersion).\(system.patchVersion)")
    }

    private static var platform: String {
        #if os(iOS)
        "IOS"
        #elseif os(macOS)
        "MACOS"
        #elseif os(tvOS)
        "TVOS"
        #elseif os(watchOS)
        "WATCHOS"
        #elseif os(visionOS)
        "VISIONOS"
        #else
        "LINUX"
        #endif
    }
}
