// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning

@testable import PinListServer

/// Keys that are being replaced: one on its way, one that was forced, one that is over.
extension Story {
    /// Shares in windows of twelve hours: the list was announced, and then nothing was measured for a while.
    private static var known: PlotSeries {
        var missing = 1.0
        let shares = (0..<48).map { window -> Double? in
            missing *= 0.93
            return (20..<23).contains(window) ? nil : 1 - missing
        }
        return PlotSeries(start: self.ago(24 * 86_400), step: 43_200, values: shares)
    }

    static var rotationsPage: RotationsPage {
        RotationsPage(
            rotations: [
                RotationViewModel(
                    host: "api.bank.example", entries: 3, state: "announced", since: self.ago(24 * 86_400),
                    nextState: "ready", due: self.ahead(days: 6), newPin: self.pin("d"), oldPins: [self.pin("c")],
                    kept: "HSM in Frankfurt, slot 3; A. Weber; on call", maxRefusing: "1%",
                    wayBack: "tumbler rotate abort api.bank.example: the new pin goes; the old key stays pinned",
                    events: [
                        .init(label: "announced", time: self.ago(24 * 86_400), isDone: true),
                        .init(label: "earliest switch", time: self.ahead(days: 6), isDone: false),
                        .init(label: "old key retired", time: self.ahead(days: 36), isDone: false),
                    ], adoption: self.known, seen: [], forced: [],
                    logged:
                        "This key was logged 3 days ago, in a certificate of CN=R11, O=Let's Encrypt, C=US. It is in "
                        + "the list that is served."),
                RotationViewModel(
                    host: "login.bank.example", entries: 1, state: "switched", since: self.ago(40 * 86_400),
                    nextState: "retired", due: self.ago(2 * 86_400), newPin: self.pin("f"), oldPins: [self.pin("e")],
                    kept: "", maxRefusing: "0.5%", wayBack: "put the old key back on the servers",
                    events: [
                        .init(label: "announced", time: self.ago(70 * 86_400), isDone: true),
                        .init(label: "earliest switch", time: self.ago(41 * 86_400), isDone: true),
                        .init(label: "seen live", time: self.ago(40 * 86_400), isDone: true),
                        .init(label: "old key retired", time: self.ago(2 * 86_400), isDone: false),
                    ], adoption: nil, seen: ["login.bank.example"],
                    forced: [
                        .init(state: "ready", time: self.ago(41 * 86_400), reason: "the old key was in a backup")
                    ]),
            ], total: 2, unreadable: ["cards.bank.example"], isFiltered: false)
    }
}
