// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What this process holds of the system, as Linux tells it.
struct ProcessResources {
    /// Whether the system tells.
    static let areKnown = FileManager.default.fileExists(atPath: "/proc/self/status")

    let descriptors: Int
    let residentKilobytes: Int

    /// What it holds now.
    init() throws {
        self.descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        self.residentKilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
    }

    /// How many sockets of this machine are connected to a port of loopback, from whichever side they are closed by now.
    static func connections(to port: Int) throws -> Int {
        let hex = String(port, radix: 16, uppercase: true)
        let suffix = ":" + String(repeating: "0", count: 4 - hex.count) + hex
        return try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8).split(separator: "\n").filter { line in
            let columns = line.split(separator: " ")
            // Remote address, and a state that is neither TIME_WAIT nor CLOSE: some process still holds it.
            return columns.count > 3 && columns[2].hasSuffix(suffix) && columns[3] != "06" && columns[3] != "07"
        }.count
    }
}
