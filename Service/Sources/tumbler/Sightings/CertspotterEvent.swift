// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CertificateSightings
import CommandLineInterface
import Foundation

/// The events that certspotter tells its hook, in the environment (certspotter-script(8)).
enum CertspotterEvent {
    /// The event of a certificate that matches the watch list.
    private static let discovered = "discovered_cert"

    /// The note on an event that is about no certificate; `nil` for one that is. Further ones may come.
    static func other(_ environment: [String: String]) -> String? {
        guard let event = environment["EVENT"], event != Self.discovered else { return nil }
        let summary = environment["SUMMARY"].map { ": \(PrintableText.line($0, maximumLength: 256))" } ?? ""
        return "certspotter reports \(PrintableText.line(event, maximumLength: 64)), not a certificate\(summary)"
    }

    /// The certificate that was found; `nil` for one that cannot be read: no app accepts it, and a hook that failed
    /// because of it would be called with it again and again, and with nothing else. Any sender can have a log take
    /// such a one.
    ///
    /// - Throws: ``CommandError`` when the environment is not a hook's, or names no file.
    static func certificate(_ environment: [String: String]) throws(CommandError) -> ToldCertificate? {
        guard environment["EVENT"] == Self.discovered else {
            throw CommandError(
                .usage, "this does not run as a hook of certspotter: EVENT is not set",
                hint: "certspotter -script, or a program in hooks.d, with tumbler sighting --from certspotter in it")
        }
        guard let path = environment["CERT_FILENAME"], !path.isEmpty else {
            throw CommandError(
                .undecided, "certspotter names no file with the certificate", hint: "run certspotter without -no_save")
        }
        let bytes = try InputFile.read(path)
        do throws(CommandError) {
            let told = try SightedFile.certificate(bytes, named: path, log: environment["LOG_URI"] ?? "", loggedAt: nil)
            let identity = (try? SightedCertificate(told.certificate))?.identity ?? ""
            // The monitor took the certificate apart by itself.
            if let expected = environment["TBS_SHA256"], expected.lowercased() != identity {
                StandardError.warning(
                    "\(path): certspotter says TBS_SHA256 \(PrintableText.line(expected, maximumLength: 64)), and the "
                        + "certificate has \(identity)")
            }
            return told
        } catch {
            StandardError.warning("not handed in: \(error.message)")
            return nil
        }
    }
}

/// A certificate that was found, in a file.
enum SightedFile {
    /// Reads it: PEM, a chain with the certificate first, or DER.
    ///
    /// - Throws: ``CommandError``.
    static func certificate(
        _ bytes: [UInt8], named path: String, log: String, loggedAt: Timestamp?
    ) throws(CommandError) -> ToldCertificate {
        guard let chain = try ChainFile.certificates(in: bytes, named: path), let first = chain.first else {
            throw CommandError(.undecided, "\(path): there is no certificate in it")
        }
        do throws(SightingError) { _ = try SightedCertificate(first) } catch {
            throw CommandError(.undecided, "\(path): \(error)")
        }
        return ToldCertificate(
            first, chain: Array(chain.dropFirst().prefix(ToldCertificate.maximumChain)),
            log: PrintableText.line(log, maximumLength: ToldCertificate.maximumLog), loggedAt: loggedAt)
    }
}
