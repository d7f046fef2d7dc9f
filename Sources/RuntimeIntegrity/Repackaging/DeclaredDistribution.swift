// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The distribution that an app declares: a difference is a sign that it was repackaged.
///
/// A release declares its own; a debug build is not evaluated. An app that is built for several ways of distribution declares
/// another one in each build.
public struct DeclaredDistribution: Hashable, Sendable {
    /// The way of distribution.
    public var distribution: Distribution

    /// The identifier of the team that signs: ten letters and digits.
    public var team: String

    /// The bundle identifier of the program that looks; an extension has its own.
    public var bundleIdentifier: String

    /// The hashes of the CodeDirectory of each part of each build in use; empty where they are not known.
    ///
    /// `scripts/code-directory-hash` prints them, of a build that is signed. A program cannot contain its own hash: an
    /// app gets them from its own server, over a protected connection. Ignored where a store signs
    /// again.
    public var codeDirectoryHashes: Set<CodeDirectoryHash>

    /// Creates a declaration.
    ///
    /// - Parameters:
    ///   - distribution: The way of distribution.
    ///   - team: The identifier of the team that signs: ten letters and digits.
    ///   - bundleIdentifier: The bundle identifier of the program that looks.
    ///   - codeDirectoryHashes: The hashes of the builds in use; empty where they are not known.
    public init(
        _ distribution: Distribution, team: String, bundleIdentifier: String,
        codeDirectoryHashes: Set<CodeDirectoryHash> = []
    ) {
        self.distribution = distribution
        self.team = team
        self.bundleIdentifier = bundleIdentifier
        self.codeDirectoryHashes = codeDirectoryHashes
    }
}

/// The way an app comes to a device, on which its signature depends.
public struct Distribution: Hashable, Sendable, CustomStringConvertible {
    /// `store`, `testflight`, `ad-hoc`, `enterprise`, `developer-id` or `development`.
    public let description: String

    private init(_ description: String) { self.description = description }

    /// From the App Store or the Mac App Store, which sign again and encrypt: no hash of a build is known beforehand.
    public static let store = Self("store")
    /// By TestFlight. Its receipt is absent at first, and whether a profile stays in the app is not known: neither
    /// is evaluated.
    public static let testFlight = Self("testflight")
    /// On devices that a provisioning profile names. (Not an "ad hoc" signature, which is one without a certificate.)
    public static let adHoc = Self("ad-hoc")
    /// Within an organisation, on all devices that trust its profile.
    public static let enterprise = Self("enterprise")
    /// On a Mac, outside of the store.
    public static let developerID = Self("developer-id")
    /// From Xcode, or from another build of one's own. Not evaluated, and a blind spot says so.
    public static let development = Self("development")
}

/// The system that a program was built for (`PLATFORM_…`, `<mach-o/loader.h>`).
struct ProgramPlatform: Hashable, Sendable {
    /// The number.
    let number: UInt32

    /// macOS and Mac Catalyst.
    var isMac: Bool { [1, 6].contains(self.number) }

    /// The simulators of iOS, tvOS, watchOS and visionOS.
    var isSimulator: Bool { [7, 8, 9, 12].contains(self.number) }

    /// Reads a load command; `nil` for other commands.
    init?(command: UInt32, _ bytes: [UInt8]) {
        switch command {
        case 0x32:  // LC_BUILD_VERSION
            guard let number = bytes.littleEndian(UInt32.self, at: 8) else { return nil }
            self.number = number
        // LC_VERSION_MIN_MACOSX, …_IPHONEOS, …_TVOS, …_WATCHOS, of older linkers: simulators had no number of their own.
        case 0x24: self.number = 1
        case 0x25: self.number = 2
        case 0x2F: self.number = 3
        case 0x30: self.number = 4
        default: return nil
        }
    }
}
