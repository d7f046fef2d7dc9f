// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinningIntegrity
import VictimBench

/// A program with a real pinned client, for attacks on it; and the servers that it talks to.
///
///     TamperingVictim serve FOLDER
///     TamperingVictim FOLDER [--policy none|refuse] [--jit] [--declare-jit]
///
/// `serve` makes certificates and lists, writes what clients need into FOLDER, and serves until its input ends. The
/// client reads commands from its standard input: `connect` (a request to a server with a key that is not pinned, of an
/// authority that is trusted, and one to the pinned server), `refresh` (a forged list is offered), `look` (at
/// everything), `sing` (the canary, a thousand times), `bench`, `quit`. It answers each with one line of JSON.
@main
enum Victim {
    static func main() async throws {
        let arguments = VictimOptions.arguments
        if arguments.count == 3, arguments[1] == "serve" { return try await VictimServers.run(in: arguments[2]) }
        let options = VictimOptions(arguments)
        if options.makesCode { VictimOptions.mapCode() }
        let client = try VictimClient(options)
        // As `IntegrityMonitor.run()` begins; what comes after at random times, comes on command.
        let microseconds = await client.look()
        self.say(["ready": true, "microseconds": microseconds])
        while let command = readLine() {
            switch command {
            case "connect": self.say(await client.connect().merging(client.noticed) { first, _ in first })
            case "refresh": self.say(await client.refresh().merging(client.noticed) { first, _ in first })
            case "look":
                let microseconds = await client.look()
                self.say(client.noticed.merging(["microseconds": microseconds]) { _, last in last })
            case "sing": self.say(await client.sing())
            case "bench": await VictimBench.run(options.declared, canary: .pinning())
            default: return
            }
        }
    }

    /// Says something on one line.
    static func say(_ facts: [String: Any]) {
        let line = (try? JSONSerialization.data(withJSONObject: facts, options: .sortedKeys)) ?? Data()
        print(String(decoding: line, as: UTF8.self))
        fflush(nil)
    }
}
