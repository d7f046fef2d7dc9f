// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Digests and pins: their beginning is enough to tell them apart, and a button copies them whole.
enum DigestText {
    /// The number of characters that are shown.
    static let shown = 12

    /// The beginning, with a button that copies all of it where scripts run.
    static func short(_ digest: String) -> Markup {
        let plain = VisibleText.plain(digest, limit: 128)
        let prefix = plain.hasPrefix("sha256/") ? plain.dropFirst(7) : plain[...]
        let text = prefix.count > Self.shown ? "\(prefix.prefix(Self.shown))…" : String(prefix)
        return "<span class=\"digest\"><code title=\"\(plain)\">\(text)</code>\(Self.button(plain))</span>"
    }

    /// All of it, with the button.
    static func whole(_ digest: String) -> Markup {
        let plain = VisibleText.plain(digest, limit: 128)
        return "<span class=\"digest whole\"><code>\(plain)</code>\(Self.button(plain))</span>"
    }

    private static func button(_ value: String) -> Markup {
        """
        <button class="copy" type="button" data-copy="\(value)" aria-label="Copy \(value.prefix(12))" hidden>copy</button>
        """
    }
}
