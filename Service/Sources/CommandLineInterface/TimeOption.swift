// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
package import CertificatePinning
import Foundation

/// `--at TIME`, where the time matters.
package struct TimeOption: ParsableArguments {
    @Option(
        name: .customLong("at"),
        help: ArgumentHelp("Decide as of this time instead of now; a date is its midnight, UTC.", valueName: "time"),
        transform: Self.timestamp)
    package var at: Timestamp?

    package init() {}

    private static func timestamp(_ text: String) throws -> Timestamp {
        do throws(InputError) {
            return try Timestamp(Self.isDate(text) ? "\(text)T00:00:00Z" : text)
        } catch {
            throw ValidationError("\(error)")
        }
    }

    /// Whether a text has the form of a date alone: `2027-03-15`.
    private static func isDate(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.enumerated().allSatisfy { index, byte in
                index == 4 || index == 7 ? byte == UInt8(ascii: "-") : (48...57).contains(byte)
            }
    }

    /// The time of the command: taken once, here.
    package var time: Timestamp { self.at ?? Timestamp(roundingDown: Date().timeIntervalSince1970) }
}
