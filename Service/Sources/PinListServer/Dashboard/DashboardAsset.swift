// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinListMetadata

/// A file that pages load: its name holds its hash, so that it may be kept for ever.
struct DashboardAsset: Hashable, Sendable {
    /// The cache field of assets: they are kept for ever, which is a year (RFC 9111 knows no more).
    static let cacheControl = "public, max-age=31536000, immutable"

    /// The path: `/assets/dashboard-0123456789abcdef.css`.
    let path: String
    /// Its `Content-Type`.
    let contentType: String
    /// The first 16 hex digits of its SHA-256.
    let hash: String
    /// The content.
    let bytes: [UInt8]

    private init(_ name: String, _ suffix: String, _ contentType: String, _ bytes: [UInt8]) {
        self.hash = String(Envelope.digest(of: bytes).prefix(16))
        self.path = "/assets/\(name)-\(self.hash).\(suffix)"
        self.contentType = contentType
        self.bytes = bytes
    }

    /// The style sheet of the pages.
    static let style = DashboardAsset(
        "dashboard", "css", "text/css; charset=utf-8", PackageResources.dashboard_css)
    /// The script of the pages.
    static let script = DashboardAsset(
        "dashboard", "js", "text/javascript; charset=utf-8", PackageResources.dashboard_js)
    /// The icon of the window.
    static let icon = DashboardAsset("icon", "svg", "image/svg+xml", PackageResources.icon_svg)
}

extension Dashboard {
    /// Everything that pages load.
    static let assets = [DashboardAsset.style, DashboardAsset.script, DashboardAsset.icon]

    /// The security fields of each answer with a page. Nothing runs or is loaded that does not come from here: what a
    /// report holds is not run even if it were not escaped.
    static let securityHeaders: [(name: String, value: String)] = [
        (
            "Content-Security-Policy",
            """
            default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; \
            form-action 'self'; frame-ancestors 'none'; base-uri 'none'
            """
        ),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
        ("Cache-Control", "no-store"),
    ]
}
