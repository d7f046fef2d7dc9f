// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The data that the project's tests share: a folder beside the checkout, `../shared/data` from the package's root.
///
/// It is not part of the repository. A suite that needs a part of it is skipped, with a message, where it is missing.
enum SharedData {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent()  // Support
        .deletingLastPathComponent()  // CertificatePinningTests
        .deletingLastPathComponent()  // Tests
        .deletingLastPathComponent()  // the package
        .deletingLastPathComponent()
        .appendingPathComponent("shared/data", isDirectory: true)

    /// 153 chains of the public web with the pins of their certificates.
    static let realChains = Self.root.appendingPathComponent("real-chains", isDirectory: true)

    /// The certificates of TrustKit's own tests.
    static let trustKit = Self.root.appendingPathComponent("trustkit/certificates", isDirectory: true)

    /// Mozilla's root store as PEM.
    static let mozillaRoots = Self.root.appendingPathComponent("roots/mozilla.pem")

    /// Whether a part of the data is there.
    static func holds(_ part: URL) -> Bool { FileManager.default.fileExists(atPath: part.path) }
}
