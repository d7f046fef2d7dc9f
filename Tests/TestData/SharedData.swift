// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Vectors and chains of others: a folder beside the checkout, `../shared/data` from the package's root.
///
/// It is not part of the repository. A suite that needs a part of it is skipped, with a message, where it is missing.
public enum SharedData {
    /// The package's root, for tests that reach this file by a symbolic link, too.
    public static let package = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static let root = Self.package.deletingLastPathComponent().appendingPathComponent(
        "shared/data", isDirectory: true)

    /// 153 chains of the public web with the pins of their certificates.
    public static let realChains = Self.root.appendingPathComponent("real-chains", isDirectory: true)

    /// The certificates of TrustKit's own tests.
    public static let trustKit = Self.root.appendingPathComponent("trustkit/certificates", isDirectory: true)

    /// Mozilla's root store as PEM.
    public static let mozillaRoots = Self.root.appendingPathComponent("roots/mozilla.pem")

    /// The cases of x509-limbo.
    public static let limbo = Self.root.appendingPathComponent("x509-limbo", isDirectory: true)

    /// The sequences of key rotations of tuf-conformance.
    public static let keyRotation = Self.root.appendingPathComponent("key-rotation/cases.json")

    /// JSONTestSuite: what must parse, and what must not.
    public static let jsonTestSuite = Self.root.appendingPathComponent("json-test-suite", isDirectory: true)

    /// Wycheproof's signatures.
    public static let wycheproof = Self.root.appendingPathComponent("wycheproof", isDirectory: true)

    /// A report as TrustKit sends it.
    public static let trustKitReport = Self.root.appendingPathComponent("trustkit/sample_report.json")

    /// Timestamps of Certificate Transparency, log lists, and what is expected of them.
    public static let transparency = Self.root.appendingPathComponent("transparency", isDirectory: true)

    /// Revocation lists of BoringSSL and of rustls/webpki, whose file names say what they are.
    public static let revocation = Self.root.appendingPathComponent("revocation", isDirectory: true)

    /// Attestations, assertions and receipts of real devices, and Apple's roots.
    public static let attestation = Self.root.appendingPathComponent("attestation", isDirectory: true)

    /// The examples of RFC 8949, Appendix A.
    public static let cborExamples = Self.root.appendingPathComponent("cbor/appendix_a.json")

    /// Whether a part of the data is there.
    public static func holds(_ part: URL) -> Bool { FileManager.default.fileExists(atPath: part.path) }
}
