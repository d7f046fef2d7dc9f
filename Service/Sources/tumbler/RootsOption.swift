// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PathValidation
import PinningNIO

/// Where the anchors come from: `--roots FILE|system`, `--ca-file FILE`.
enum RootsOption {
    /// The word for the roots of the system.
    static let system = "system"

    /// Reads a root store.
    ///
    /// - Throws: ``CommandFailure`` when there is none, or it holds nothing that can be used.
    static func load(_ option: String) throws(CommandFailure) -> RootStore {
        if option == self.system {
            do throws(PinningSetupError) { return try TrustedRoots.system() } catch {
                throw CommandFailure(
                    .undecided, "this system has no bundle of roots",
                    hint: "install ca-certificates, or name a PEM file with --roots")
            }
        }
        let bytes = try InputFile.read(option)
        do throws(InputError) {
            return try RootStore(pem: bytes)
        } catch {
            throw CommandFailure(.undecided, "\(option): \(error)")
        }
    }
}

/// The clock that only goes forward, in nanoseconds.
func monotonicNanoseconds() -> UInt64 { DispatchTime.now().uptimeNanoseconds }
