// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CommandLineInterface
import Foundation
import PinListRepository

/// The secret that opens a part of the service. It comes from a file, never from the command line, which every user of
/// the machine can see.
struct ServiceToken: Sendable {
    /// The environment variable that names the file where `--token-file` does not.
    static let environmentName = "TUMBLER_TOKEN_FILE"

    /// The maximum number of bytes of the file; a token of the service has 89.
    static let maximumLength = 4_096

    private let secret: String

    /// The service that the token is for, and no other; `nil` where the file names none.
    private let service: ServiceAddress?

    private let file: String

    /// The value of the header `Authorization` (RFC 6750, section 2.1).
    var authorization: String { "Bearer \(self.secret)" }

    /// Reads the file: a line with the token, and perhaps one with the address of the service that it is for.
    ///
    /// - Throws: ``CommandError`` when it cannot be read, when other users can open it, or when it holds no token. What it
    ///   holds is not repeated.
    init(file path: String) throws(CommandError) {
        let bytes = try CommandError.wrapping { () throws(RepositoryError) in
            try BoundedFile.expectPrivate(path, holding: "a token of the service")
            return try BoundedFile.read(path, maximum: Self.maximumLength)
        }
        let lines = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            .components(separatedBy: .newlines).map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        let addresses = lines.dropFirst().map { try? ServiceAddress($0, from: path) }
        guard let secret = lines.first, secret.utf8.allSatisfy(Self.mayStand), addresses.count <= 1,
            !addresses.contains(where: { $0 == nil })
        else {
            throw CommandError(
                .undecided, "\(path): there is no token in it, or more than that",
                hint:
                    "one line, as tumbler token create printed it on the service's machine; the address of that service "
                    + "may be a second one")
        }
        self.secret = secret
        self.service = addresses.first ?? nil
        self.file = path
    }

    /// Refuses another service than the one that the file names: `server:` of a checkout may be the edit of a stranger, who
    /// would get the token.
    ///
    /// - Throws: ``CommandError``.
    func expect(_ address: ServiceAddress) throws(CommandError) {
        guard let service else { return }
        if let own = FetchAddress(service.description), let other = FetchAddress(address.description),
            own.isTLS == other.isTLS, own.server == other.server
        {
            return
        }
        throw CommandError(
            .usage, "the token in \(self.file) is for \(service), and this is \(address): nothing was sent",
            hint: "who changed server: in tumbler.yaml? if it is right, --token-file with a token of that service")
    }

    /// The characters of `b64token` (RFC 6750, section 2.1): none of them ends a header.
    private static func mayStand(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~+/=".utf8.contains(byte)
        }
    }
}
