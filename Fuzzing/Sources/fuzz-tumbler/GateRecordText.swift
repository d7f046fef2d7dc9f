// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinRotation

/// An answer of the gate, as the service is sent it for its audit log.
enum GateRecordText: FuzzTarget {
    static let name = "gate-record"

    static func check(_ bytes: [UInt8]) {
        guard bytes.count <= GateRecord.maximumLength,
            let record = try? JSONDecoder().decode(GateRecord.self, from: Data(bytes))
        else { return }
        let answer = record.answer
        precondition(record.certificate.utf8.count == 64)
        precondition(answer.refusing.share.map { (0...1).contains($0) } ?? true)
        precondition(answer.refusing.hours > 0 && answer.refusing.requests >= 0)
        precondition(answer.reason.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f })
        // A record that was read can be written, and is the same when it is read again; the reason alone is made
        // shorter.
        guard let written = try? JSONEncoder().encode(record),
            let again = try? JSONDecoder().decode(GateRecord.self, from: written)
        else { preconditionFailure("what was read cannot be written") }
        precondition(again.certificate == record.certificate && again.answer.refusing == answer.refusing)
        precondition(again.answer.host == answer.host && again.answer.notedHostname == answer.notedHostname)
        precondition(again.answer.verdict == answer.verdict && again.answer.matched == answer.matched)
    }
}
