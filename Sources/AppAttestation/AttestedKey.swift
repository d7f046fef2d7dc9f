// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import Crypto

/// The public key of an installation: P-256, its private half in the device's Secure Enclave.
public struct AttestedKey: Hashable, Sendable {
    /// The key as an uncompressed point: 65 bytes (ANSI X9.63).
    public let x963: [UInt8]

    /// The DER before the point in a SubjectPublicKeyInfo of P-256 (RFC 5480).
    private static let subjectPublicKeyInfoPrefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
        0xce,
        0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]

    /// Creates a key from an uncompressed point; `nil` for bytes that are not a point of the curve.
    public init?(x963 bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == 65, (try? P256.Signing.PublicKey(x963Representation: bytes)) != nil else { return nil }
        self.x963 = bytes
    }

    /// Creates a key from a SubjectPublicKeyInfo in DER; `nil` for another kind of key.
    public init?(subjectPublicKeyInfo bytes: some Collection<UInt8>) {
        guard bytes.starts(with: Self.subjectPublicKeyInfoPrefix) else { return nil }
        self.init(x963: bytes.dropFirst(Self.subjectPublicKeyInfoPrefix.count))
    }

    /// The key as a SubjectPublicKeyInfo in DER: 91 bytes.
    public var subjectPublicKeyInfo: [UInt8] { Self.subjectPublicKeyInfoPrefix + self.x963 }

    /// The key's id: the SHA-256 of ``x963``, 32 bytes.
    public var id: [UInt8] { Array(SHA256.hash(data: self.x963)) }

    /// Whether a signature of ECDSA with SHA-256, in DER, over a message is valid.
    func verifies(_ signature: [UInt8], over message: [UInt8]) -> Bool {
        guard let key = try? P256.Signing.PublicKey(x963Representation: self.x963),
            let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: message)
    }
}

/// The environment of a key: keys of one environment are not accepted in the other.
public enum AttestationEnvironment: String, Hashable, Sendable, CaseIterable {
    /// Apps from the App Store, TestFlight and enterprise programs.
    case production
    /// Apps that were started from Xcode, unless their entitlement says otherwise.
    case development

    /// The 16 bytes that authenticator data has as its AAGUID: `appattest` and seven zeros, or `appattestdevelop`.
    var aaguid: [UInt8] {
        switch self {
        case .production: Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)
        case .development: Array("appattestdevelop".utf8)
        }
    }

    /// The environment whose AAGUID this is.
    init?(aaguid: some Sequence<UInt8>) {
        guard let environment = Self.allCases.first(where: { $0.aaguid.elementsEqual(aaguid) }) else { return nil }
        self = environment
    }

    /// The launch categories that are accepted by default.
    public var usualCategories: Set<LaunchCategory> {
        switch self {
        case .production: [.appStore, .testFlight, .enterprise]
        case .development: LaunchCategory.assigned
        }
    }
}

/// The launch category: how the running app was signed and distributed: `apple_validation_category_01`, from iOS 27 on.
///
/// Source: Apple's "Validating apps that connect to your server", step 10.
public struct LaunchCategory: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number.
    public let rawValue: UInt32

    /// Creates a category of any number.
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
    /// Signed in any other way.
    public static let other = LaunchCategory(rawValue: 10)

    /// All categories of apps: 0 is invalid, 7 to 9 are binaries of the system, the rest is not assigned.
    public static let assigned: Set<LaunchCategory> = [
        .operatingSystem, .testFlight, .development, .appStore, .enterprise, .developerID, .other,
    ]

    /// The number.
    public var description: String { String(self.rawValue) }
}
#endif
