// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinListMetadata

/// The most of each thing that a body of `POST /v1/reports` may hold. These bodies are unsigned.
public struct ReportBodyLimits: Hashable, Sendable {
    /// The most bytes of a body. A list incident carries an envelope of 4 MiB in base64: below 6 MiB with all around
    /// it.
    package var bodyBytes: Int

    /// The most bytes of a body without an envelope. A client sends two chains of 65,536 bytes of DER each, which are
    /// 175 KiB in PEM; TrustKit escapes every slash and line end on top of it.
    package var plainBytes: Int

    /// Limits; the defaults are those of the format.
    public init(bodyBytes: Int = 6_291_456, plainBytes: Int = 524_288) {
        self.bodyBytes = bodyBytes
        self.plainBytes = plainBytes
    }

    /// The most JSON values in a body. One report has about 60; a full array of entries 40 each.
    package static let values = 8_192
    /// The most entries in an array of the Reporting API. Browsers put together what a minute brought.
    public static let entries = 128
    /// The most bytes of a text that is neither a certificate nor an envelope. What is longer is no name of anything.
    package static let textBytes = 4_096
    /// The most Unicode scalars that are kept of a text; what is over is cut and marked.
    public static let textLength = 256
    /// The most bytes of a reason, which labels metrics.
    public static let reasonBytes = 64
    /// The most certificates that are kept of a chain. Not refused beyond it: the server that is reported chooses the
    /// chain, and could keep itself from being reported.
    public static let certificates = 16
    /// The most bytes of DER that are kept of a chain; likewise.
    public static let chainBytes = 131_072
    /// The most pins that a report says were known (formats.md, section 3.2, has 16 an entry).
    package static let pins = 64
    /// The most signals (a client sends 32).
    package static let signals = 32
    /// The most bytes of an envelope (formats.md, section 3.2).
    package static let envelopeBytes = MetadataLimits().listBytes
}
