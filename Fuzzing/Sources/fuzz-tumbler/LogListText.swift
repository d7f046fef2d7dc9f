// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CertificateTransparency
import PinListMetadata

/// A log list, as a publisher of logs writes it.
enum LogListText: FuzzTarget {
    static let name = "log-list"

    static func check(_ bytes: [UInt8]) {
        guard let list = try? LogList(bytes) else { return }
        precondition((try? JSONValue(strict: bytes, numbers: .truncated)) != nil)
        precondition(Set(list.logs.map(\.id)).count == list.logs.count)
        precondition(Set(list.traps).isSubset(of: LogID.traps))
        for log in list.logs {
            precondition(list[log.id] == log && !LogID.traps.contains(log.id))
            precondition(log.interval?.isEmpty != true)
            precondition(zip(log.previousOperators, log.previousOperators.dropFirst()).allSatisfy { $0.end <= $1.end })
        }
        // White space around it changes nothing, and anything else is a refusal.
        if bytes.count < LogList.maximumLength {
            precondition((try? LogList(bytes + [0x20])) == list)
            precondition((try? LogList(bytes + [0x30])) == nil)
        }
    }
}
