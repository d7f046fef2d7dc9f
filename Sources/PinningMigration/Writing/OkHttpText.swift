// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// OkHttp's pinner as text.
enum OkHttpText {
    /// A declaration in Kotlin.
    static func builder(_ entries: [OutgoingEntry]) -> String {
        var lines = [
            "import okhttp3.CertificatePinner", "",
            "val certificatePinner: CertificatePinner = CertificatePinner.Builder()",
        ]
        for outgoing in entries {
            let pattern = (outgoing.entry.includeSubdomains ? "**." : "") + outgoing.entry.domain.description
            lines += outgoing.digests.map { "    .add(\"\(pattern)\", \"sha256/\($0)\")" }
        }
        return (lines + ["    .build()", ""]).joined(separator: "\n")
    }
}
