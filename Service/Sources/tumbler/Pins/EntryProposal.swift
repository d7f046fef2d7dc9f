// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation
import PathValidation
import PinListRepository

/// Makes an entry in a dialogue with a person: what a host serves now, and a backup.
///
/// What is served is validated first. Pinned is the server's own key alone: an issuer of the same chain would be gone with
/// it whenever the authority changes its chain, so it is no backup.
struct EntryProposal {
    /// The observer that asks hosts.
    let observer: HostObserver

    /// The project's folder.
    let folder: URL

    /// Whether keys are written without a passphrase.
    let isPlain: Bool

    /// The entry for a host, from what it serves and a person's confirmation.
    ///
    /// - Parameter host: The host.
    /// - Returns: The entry, and the backup key where one was made.
    /// - Throws: ``CommandError`` when what is served does not validate, or nothing is to be pinned.
    func entry(for host: HostName) async throws(CommandError) -> (NewProject.Entry, BackupKey?) {
        let addresses = await self.observer.observe([host]).first ?? []
        let asked = addresses.first { !$0.hasNoRoute } ?? addresses.first
        let path = try self.validated(host, asked?.observation ?? .unreachable("it has no address"))
        if let other = addresses.first(where: { !$0.hasNoRoute && $0.observation != asked?.observation }) {
            StandardError.warning(
                "\(host) has \(addresses.count) addresses, and \(other.address ?? "one") does not present the same")
        }
        guard let leaf = path.certificates.first, let pin = path.publicKeyPins.first.flatMap({ $0 }) else {
            throw CommandError(.doesNotHold, "\(host) serves a key that cannot be read")
        }
        let subject = DistinguishedNameText(subjectOf: leaf)?.description ?? "no subject"
        let issuer = DistinguishedNameText(issuerOf: leaf)?.description ?? "an unreadable issuer"
        StandardError.note("\(host) serves \(pin), its own key: \(subject), by \(issuer); the chain validates")
        guard SigningConsent.ask("Pin it?") else {
            throw CommandError(.doesNotHold, "no pin of \(host) was taken")
        }
        var pins = [KnownPin(pin, position: .leaf, note: "current")]
        let backup = try self.backup(for: host, besides: path)
        if let pin = backup.pin { pins.append(KnownPin(pin, note: "backup")) }
        return (NewProject.Entry(host.description, pins: pins), backup.key)
    }

    /// The path that was validated.
    private func validated(
        _ host: HostName, _ observation: ProbeObservation
    ) throws(CommandError) -> ValidatedPath {
        switch observation {
        case .validated(let path): return path
        case .refused(_, let detail):
            throw CommandError(
                .doesNotHold, "what \(host) serves does not validate: \(PrintableText.line(detail))",
                hint: "repair the server first; --roots FILE names an authority of your own")
        case .unreachable(let reason):
            throw CommandError(
                .undecided, "\(host) could not be asked: \(PrintableText.line(reason))",
                hint: "--domain \(host)=PIN,PIN asks no host")
        }
    }

    /// A backup: a key that is made now, or the pin of one that is there.
    private func backup(
        for host: HostName, besides path: ValidatedPath
    ) throws(CommandError) -> (pin: Pin?, key: BackupKey?) {
        StandardError.note(
            "a backup is a key that no server has yet: when the one above is lost, it is all that keeps apps connected")
        if SigningConsent.ask("Make a backup key for \(host) now?") {
            let key = try CommandError.wrapping { () throws(RepositoryError) in
                try BackupKey(for: host, in: self.folder, isPlain: self.isPlain)
            }
            return (key.pin, key)
        }
        let text = SigningConsent.answer("The pin of a backup key that is there already, or nothing: ")
        guard !text.isEmpty else { return (nil, nil) }
        let pin: Pin
        do throws(InputError) { pin = try Pin(text) } catch {
            throw CommandError(.usage, "\(PrintableText.line(text)): \(error)", hint: "tumbler pin FILE prints pins")
        }
        guard !path.publicKeyPins.contains(pin) else {
            throw CommandError(
                .doesNotHold,
                "\(pin) is in the chain that \(host) serves now, so it is no backup: both would go at once",
                hint: "tumbler key new makes a key, and tumbler key csr the request for its certificate")
        }
        return (pin, nil)
    }
}
