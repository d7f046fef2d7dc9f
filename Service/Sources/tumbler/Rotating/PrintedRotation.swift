// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation
import PinListMetadata
import PinListRepository
import PinRotation

/// The form in which `rotate status --json` prints each rotation.
struct PrintedRotation {
    let situation: RotationSituation

    /// Every member is there; `null` stands where there is nothing.
    var json: JSONValue {
        let (plan, outlook) = (self.situation.plan, self.situation.outlook)
        func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
        func time(_ time: Timestamp?) -> JSONValue { text(time?.description) }
        return .object([
            .init("host", .string(plan.host.description)),
            .init("state", .string(plan.state.rawValue)),
            .init("since", time(plan.since)),
            .init("next", text(outlook.next?.rawValue)),
            .init("gate", .string(outlook.gate.rawValue)),
            .init("back", .bool(outlook.isBack)),
            .init("missing", .array(outlook.missing.map { .string($0) })),
            .init("missingSince", time(outlook.missingSince)),
            .init("earliest", time(outlook.earliest)),
            .init("plannedFrom", time(outlook.planned)),
            .init("expectedOpening", time(self.situation.forecast.opening)),
            .init("expectedBy", .string(self.situation.forecast.basis)),
            .init("verdict", text(self.situation.facts.gate?.verdict.rawValue)),
            .init("notes", .array(self.situation.notes.map { .string($0) })),
            .init("advice", .string(outlook.advice)),
            .init("wayBack", .string(outlook.wayBack)),
            .init("plan", plan.json),
        ])
    }

    /// Prints values, one document.
    static func write(_ value: JSONValue) throws {
        try StandardOutput.write(Data(value.bytes + [UInt8(ascii: "\n")]))
    }
}
