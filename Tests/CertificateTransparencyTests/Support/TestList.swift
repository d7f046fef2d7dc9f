// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning

@testable import CertificateTransparency

/// A log list as JSON, in parts that a test may replace.
struct TestList {
    /// The JSON of a log.
    static func log(_ log: TestLog, id: String? = nil, _ members: String = "") -> String {
        """
        {"description": "a log", "log_id": "\(id ?? log.id.description)", "key": "\(Base64.encode(log.publicKey))", \
        "url": "https://log.example/", "mmd": 86400\(members.isEmpty ? "" : ", ")\(members)}
        """
    }

    /// The JSON of a list with one operator.
    static func list(
        _ logs: [String], tiled: [String] = [], operatorMembers: String = "", members: String = ""
    ) -> [UInt8] {
        Array(
            """
            {"version": "99.1", "log_list_timestamp": "2026-11-01T12:00:00Z"\(members.isEmpty ? "" : ", ")\(members), \
            "operators": [{"name": "Operator", "email": ["ct@example.com"]\
            \(operatorMembers.isEmpty ? "" : ", ")\(operatorMembers), "logs": [\(logs.joined(separator: ", "))], \
            "tiled_logs": [\(tiled.joined(separator: ", "))]}]}
            """.utf8)
    }

    /// Why a list is refused; `nil` where it is not.
    static func refusal(of bytes: [UInt8]) -> LogListError.Code? {
        do throws(LogListError) {
            _ = try LogList(bytes)
            return nil
        } catch {
            return error.code
        }
    }
}
