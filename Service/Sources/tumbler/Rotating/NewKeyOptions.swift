// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import PinListRepository

/// `--key FILE`, `--csr FILE` or `--pin PIN`: the key that comes; and `--old PIN`: those that go.
struct NewKeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The new key: an unencrypted private key, or a public one.", valueName: "file"),
        completion: .file())
    var key: String?

    @Option(
        help: ArgumentHelp("The request for the certificate of the new key.", valueName: "file"), completion: .file())
    var csr: String?

    @Option(help: "The pin of the new key.")
    var pin: String?

    @Option(
        help: ArgumentHelp(
            "A pin that goes; may be given several times. By default the one that is served.", valueName: "pin"),
        transform: Self.pin)
    var old: [Pin] = []

    func validate() throws {
        guard [self.key, self.csr, self.pin].compactMap({ $0 }).count == 1 else {
            throw ValidationError("name the new key with one of --key, --csr and --pin")
        }
    }

    private static func pin(_ text: String) throws -> Pin {
        do throws(InputError) { return try Pin(text) } catch { throw ValidationError("\(error)") }
    }

    /// The pin of the key that comes.
    ///
    /// - Throws: ``CommandError`` for a file that holds something else.
    func newPin() throws(CommandError) -> Pin {
        if let pin {
            do throws(InputError) { return try Pin(pin) } catch { throw CommandError(.usage, "--pin: \(error)") }
        }
        let path = self.key ?? self.csr ?? ""
        let bytes = try InputFile.read(path)
        let found = try CommandError.wrapping { () throws(RepositoryError) in
            try PinnedMaterial.all(in: bytes, named: path)
        }
        let kinds: Set<PinnedMaterial.Kind> = self.csr == nil ? [.privateKey, .publicKey] : [.request]
        guard let material = found.first, found.count == 1, kinds.contains(material.kind) else {
            throw CommandError(
                .doesNotHold, "\(path) is not one \(self.csr == nil ? "key" : "certificate request")",
                hint: "--key takes a key, --csr a request; tumbler pin \(path) says what it is")
        }
        return material.pin
    }
}
