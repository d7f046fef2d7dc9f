// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import SwiftASN1
internal import X509

/// The path that a host serves now, as a probe saw it.
public struct ServedPath: Hashable, Sendable {
    /// The host that was asked.
    public let host: HostName

    /// The validated path; `nil` when the host could not be asked, or what it presents does not validate.
    public let path: ValidatedPath?

    /// The reason for which there is no path.
    public let failure: String?

    /// States an observation.
    public init(_ host: HostName, path: ValidatedPath) {
        self.host = host
        self.path = path
        self.failure = nil
    }

    /// States that there is none.
    public init(_ host: HostName, failure: String) {
        self.host = host
        self.path = nil
        self.failure = failure
    }

    /// The DNS names that the leaf is for; wildcards as they are.
    var names: [String] {
        guard let leaf = self.path?.certificates.first, let certificate = try? Certificate(derEncoded: leaf),
            let names = try? certificate.extensions.subjectAlternativeNames
        else { return [] }
        return names.compactMap { name in
            if case .dnsName(let text) = name { text.lowercased() } else { nil }
        }
    }
}
