// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import PinFailureReports

/// Where a simulated installation is, and which version of the app it has.
package struct SimulatedPlace: Hashable, Sendable {
    /// How many of the first clients sit in offices, whose networks they share.
    static let inOffices = 8
    /// How many of them share an office.
    static let perOffice = 4
    /// From this number on the clients have the version before.
    static let firstOld = 150

    /// The number of the client, from 0.
    package let number: Int

    /// The place of a client.
    package init(number: Int) { self.number = number }

    /// An address of RFC 3849, which documentation may use and nobody has. A /48 of its own for each client, but for
    /// those in offices.
    package var address: String {
        let network = self.number < Self.inOffices ? self.number / Self.perOffice : self.number
        return "2001:db8:\(String(network + 1, radix: 16))::\(String(self.number + 1, radix: 16))"
    }

    /// The app, as reports name it.
    package var app: ReportedApp {
        ReportedApp(
            bundleID: "com.example.app", version: self.number < Self.firstOld ? "4.2.0" : "4.1.7", platform: "LINUX",
            platformVersion: "simulated")
    }
}
