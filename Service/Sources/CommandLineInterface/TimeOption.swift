// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
package import CertificatePinning
import Foundation

/// `--at TIME`, where the time matters.
package struct TimeOption: ParsableArguments {
    @Option(
        name: .customLong("at"), help: ArgumentHelp("Decide as of this time instead of now.", valueName: "time"),
        transform: Self.timestamp)
    package var at: Timestamp?

    package init() {}

    private static func timestamp(_ text: String) throws -> Timestamp {
        do throws(InputError) {
            return try Timestamp(text)
        } catch {
            throw ValidationError("\(error)")
        }
    }

    /// The time of the command: taken once, here.
    package var time: Timestamp { self.at ?? Timestamp(roundingDown: Date().timeIntervalSince1970) }
}
