// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import Foundation
import PinListRepository

/// A host as people type it: in Unicode (`bücher.example`), or as it is in the DNS (`xn--bcher-kva.example`).
enum HostArgument {
    /// Reads a host, without a scheme and without a port.
    ///
    /// - Throws: `ValidationError`, which makes a usage error. A URL is told from a host that is misspelt.
    static func host(_ text: String) throws -> HostName {
        if let advice = self.advice(onAddress: text) { throw ValidationError(advice) }
        do throws(InputError) { return try self.name(text) } catch { throw ValidationError("\(error)") }
    }

    /// Reads a host.
    ///
    /// - Throws: `InputError` of `HostName`.
    static func name(_ text: String) throws(InputError) -> HostName {
        try HostName(InternationalName.ascii(text) ?? text)
    }

    /// The text to type in place of a URL; `nil` for what is none.
    static func advice(onAddress text: String) -> String? {
        guard let scheme = text.range(of: "://") else { return nil }
        let rest = text[scheme.upperBound...].prefix { !"/?#".contains($0) }
        // A name and a password are not repeated.
        guard !rest.contains("@"), let end = rest.split(separator: ":").first, (try? self.name(String(end))) != nil
        else { return "this is a URL, and a host is asked for" }
        return "this is a URL, and a host is asked for: write \(end)"
    }
}
