// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata

/// The base address of a Tumbler service: `https`, or `http` to this machine itself. It may have a path.
package struct ServiceAddress: Sendable, CustomStringConvertible {
    /// The address, without a slash at its end.
    package let description: String

    /// Whether it is this machine itself, where a service with `openOnLoopback` asks for no token to read.
    package let isLoopback: Bool

    /// Reads an address.
    ///
    /// - Parameters:
    ///   - text: The address.
    ///   - place: The place of the address, for errors.
    /// - Throws: ``CommandError``. The text is not repeated: a password may be in it.
    package init(_ text: String, from place: String) throws(CommandError) {
        // As it stands in the DNS: a host may be typed in Unicode.
        let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
        let text = isASCII ? text : URLComponents(string: text)?.string ?? text
        guard ReportAddress.isAllowed(text), !text.contains("?"),
            let host = URLComponents(string: text)?.encodedHost.flatMap({ try? HostName($0) })
        else {
            throw CommandError(
                .usage, "\(place) is not the address of a service",
                hint: "https://HOST, without name and password; http is for loopback alone")
        }
        var base = text
        while base.hasSuffix("/") { base.removeLast() }
        self.description = base
        self.isLoopback = ReportAddress.isLoopback(host)
    }

    /// The address of a list's base.
    package func list(_ name: String) -> String { "\(self.description)/v1/lists/\(name)" }
}
