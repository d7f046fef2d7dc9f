// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning

/// The certificates that stories are told with.
enum Cast {
    static let leaf = SketchedCertificate(subject: "api.example.com", key: Array(1...32))
    static let intermediate = SketchedCertificate(subject: "Example Intermediate", key: Array(2...33))
    static let root = SketchedCertificate(subject: "Example Root", key: Array(3...34))

    /// An attacker's certificate, from an authority that devices trust.
    static let interceptor = SketchedCertificate(subject: "api.example.com", key: Array(101...132))
    static let interceptorRoot = SketchedCertificate(subject: "Interceptor Root", key: Array(102...133))

    /// A key that is in no path.
    static let backup = SketchedCertificate(subject: "backup", key: Array(201...232))

    /// What no parser reads: a certificate without its last byte.
    static let unreadable = Array(Self.intermediate.der.dropLast())

    /// The path of the real server.
    static let path = ValidatedPath(uncheckedValidatedPath: [Self.leaf.der, Self.intermediate.der, Self.root.der])

    /// The path of the interceptor, which the platform has validated: one of the roots it trusts is theirs.
    static let interceptorPath = ValidatedPath(
        uncheckedValidatedPath: [Self.interceptor.der, Self.interceptorRoot.der])

    /// 2026-11-21T00:00:00Z.
    static let now = Timestamp(secondsSince1970: 1_795_219_200)

    /// One second after, and one before.
    static let later = Timestamp(secondsSince1970: 1_795_219_201)
    static let earlier = Timestamp(secondsSince1970: 1_795_219_199)
}
