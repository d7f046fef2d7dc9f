// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import Foundation

/// `--at TIME`, where the time matters.
struct TimeOption: ParsableArguments {
    @Option(
        name: .customLong("at"), help: ArgumentHelp("Decide as of this time instead of now.", valueName: "time"),
        transform: Self.timestamp)
    var at: Timestamp?

    private static func timestamp(_ text: String) throws -> Timestamp {
        do throws(InputError) {
            return try Timestamp(text)
        } catch {
            throw ValidationError("\(error)")
        }
    }

    /// The time of the command: taken once, here.
    var time: Timestamp { self.at ?? Timestamp(roundingDown: Date().timeIntervalSince1970) }
}
