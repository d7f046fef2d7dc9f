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

    /// The value of the header `Authorization` (RFC 6750, section 2.1).
    var authorization: String { "Bearer \(self.secret)" }

    /// Reads the file: one line.
    ///
    /// - Throws: ``CommandError`` when it cannot be read, when other users can open it, or when it holds no token. What it
    ///   holds is not repeated.
    init(file path: String) throws(CommandError) {
        let bytes = try CommandError.wrapping { () throws(RepositoryError) in
            try BoundedFile.expectPrivate(path, holding: "a token of the service")
            return try BoundedFile.read(path, maximum: Self.maximumLength)
        }
        let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty, text.utf8.allSatisfy(Self.mayStand) else {
            throw CommandError(
                .undecided, "\(path): there is no token in it",
                hint: "one line, as tumbler token create printed it on the service's machine")
        }
        self.secret = text
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
