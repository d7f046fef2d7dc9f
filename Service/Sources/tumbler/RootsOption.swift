// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PathValidation

/// Where the anchors come from: `--roots FILE|system`, `--ca-file FILE`.
enum RootsOption {
    /// The word for the roots of the system.
    static let system = "system"

    /// Where systems keep their bundle: Debian and its like, Fedora and its like, Alpine.
    static let systemBundles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
    ]

    /// Reads a root store.
    ///
    /// - Throws: ``CommandFailure`` when there is none, or it holds nothing that can be used.
    static func load(_ option: String) throws(CommandFailure) -> RootStore {
        var path = option
        if option == self.system {
            guard let bundle = self.systemBundles.first(where: { FileManager.default.isReadableFile(atPath: $0) })
            else {
                throw CommandFailure(
                    .undecided, "this system has no bundle of roots",
                    hint: "install ca-certificates, or name a PEM file with --roots")
            }
            path = bundle
        }
        let bytes = try InputFile.read(path)
        do throws(InputError) {
            return try RootStore(pem: bytes)
        } catch {
            throw CommandFailure(.undecided, "\(path): \(error)")
        }
    }
}

/// The clock that only goes forward, in nanoseconds.
func monotonicNanoseconds() -> UInt64 { DispatchTime.now().uptimeNanoseconds }
