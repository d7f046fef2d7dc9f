// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
/// How the app that was launched had been signed and distributed: `apple_validation_category_01`, from iOS 27 on.
///
/// Source: Apple's "Validating apps that connect to your server", step 10.
public struct LaunchCategory: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number.
    public let rawValue: UInt32

    /// Takes any number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Part of the operating system.
    public static let operatingSystem = LaunchCategory(rawValue: 1)
    /// From TestFlight.
    public static let testFlight = LaunchCategory(rawValue: 2)
    /// Signed for development.
    public static let development = LaunchCategory(rawValue: 3)
    /// From the App Store.
    public static let appStore = LaunchCategory(rawValue: 4)
    /// By an enterprise's universal profile, or ad hoc.
    public static let enterprise = LaunchCategory(rawValue: 5)
    /// With a Developer ID, on a Mac.
    public static let developerID = LaunchCategory(rawValue: 6)
    /// Signed in a way that is none of the others.
    public static let other = LaunchCategory(rawValue: 10)

    /// All that an app may have: 0 is invalid, 7 to 9 are binaries that the system makes, the rest is not assigned.
    public static let assigned: Set<LaunchCategory> = [
        .operatingSystem, .testFlight, .development, .appStore, .enterprise, .developerID, .other,
    ]

    /// The number.
    public var description: String { String(self.rawValue) }
}
#endif
