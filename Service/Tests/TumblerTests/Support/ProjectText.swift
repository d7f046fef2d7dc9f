// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A `tumbler.yaml` for tests of commands.
enum ProjectText {
    /// A pin made of one letter.
    static func pin(_ letter: Character) -> String { "sha256/\(String(repeating: letter, count: 42))A=" }

    /// A source that nothing is wrong with.
    static let good = """
        name: com.example.app
        reportTo: [https://reports.example.net/v1]
        domains:
          - domain: api.example.com
            pins:
              - {pin: "\(Self.pin("a"))", note: current}
              - {pin: "\(Self.pin("b"))", note: backup}

        """

    /// A source with one pin.
    static let withoutBackup = good.replacing("      - {pin: \"\(Self.pin("b"))\", note: backup}\n", with: "")
}
