// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The A-labels of an internationalised name: UTS 46, non-transitional (formats.md, section 2).
public enum InternationalName {
    /// The maximum length of a name that is converted, in bytes; the A-labels of a longer one are longer than a name
    /// may be.
    private static let maximumLength = 1_024

    /// A name as it is stored: itself where it is ASCII, else its A-labels.
    ///
    /// - Returns: `nil` for what UTS 46 does not allow, and where this system's Foundation cannot convert.
    public static func ascii(_ name: String) -> String? {
        if name.utf8.allSatisfy({ $0 < 0x80 }) { return name }
        // Nothing that has a meaning in a URL may come in with a name.
        let isLabelText = name.unicodeScalars.allSatisfy { scalar in
            scalar.value >= 0x80 || scalar == "-" || scalar == "." || scalar == "_"
                || (scalar.value < 0x7B && scalar.properties.isAlphabetic) || ("0"..."9").contains(scalar)
        }
        guard isLabelText, name.utf8.count <= self.maximumLength else { return nil }
        guard let host = URLComponents(string: "https://\(name)/")?.encodedHost, !host.isEmpty,
            host.utf8.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "%") })
        else { return nil }
        return host
    }
}
