// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinListMetadata

/// Limits of what a body of `POST /v1/reports` may hold. These bodies are unsigned.
public struct ReportBodyLimits: Hashable, Sendable {
    /// The maximum number of bytes of a body. A list incident carries an envelope of 4 MiB in base64: below 6 MiB with
    /// all around it.
    package var bodyBytes: Int

    /// The maximum number of bytes of a body without an envelope. A client sends two chains of 65,536 bytes of DER
    /// each, which are 175 KiB in PEM; TrustKit escapes every slash and line end on top of it.
    package var plainBytes: Int

    /// Limits; the defaults are those of the format.
    public init(bodyBytes: Int = 6_291_456, plainBytes: Int = 524_288) {
        self.bodyBytes = bodyBytes
        self.plainBytes = plainBytes
    }

    /// The maximum number of JSON values in a body. One report has about 60; a full array of entries 40 each.
    package static let values = 8_192
    /// The maximum number of entries in an array of the Reporting API. Browsers put together what a minute brought.
    public static let entries = 128
    /// The maximum number of bytes of a text that is neither a certificate nor an envelope. What is longer is no name
    /// of anything.
    package static let textBytes = 4_096
    /// The maximum number of Unicode scalars that are kept of a text; what is over is cut and marked.
    public static let textLength = 256
    /// The maximum number of bytes of a reason, which labels metrics.
    public static let reasonBytes = 64
    /// The maximum number of certificates that are kept of a chain. Not refused beyond it: the server that is reported
    /// chooses the chain, and could keep itself from being reported.
    public static let certificates = 16
    /// The maximum number of bytes of DER that are kept of a chain; likewise.
    public static let chainBytes = 131_072
    /// The maximum number of pins that a report says were known (formats.md, section 3.2, has 16 an entry).
    package static let pins = 64
    /// The maximum number of signals (a client sends 32).
    package static let signals = 32
    /// The maximum number of bytes of an envelope (formats.md, section 3.2).
    package static let envelopeBytes = MetadataLimits().listBytes
}
