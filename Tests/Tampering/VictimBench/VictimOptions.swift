// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
public import RuntimeIntegrity

/// What the victim was started with.
public struct VictimOptions: Sendable {
    /// What comes first: a port to connect to, or a folder with what a server wrote.
    public let target: String
    /// Whether its policy refuses.
    public let refuses: Bool
    /// Whether it maps memory that can be written and executed.
    public let makesCode: Bool
    /// Whether it says so.
    public let declaresCode: Bool

    /// The command line as the system has it: a Swift program gets none under libfaketime, which moves the environment.
    public static var arguments: [String] {
        guard let file = fopen("/proc/self/cmdline", "r") else { return CommandLine.arguments }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = fread(&bytes, 1, bytes.count, file)
        return bytes[..<count].split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Reads the arguments of the command line.
    public init(_ arguments: [String] = Self.arguments) {
        self.target = arguments.dropFirst().first ?? "9"
        self.refuses = arguments.contains("refuse")
        self.makesCode = arguments.contains("--jit")
        self.declaresCode = arguments.contains("--declare-jit")
    }

    /// What it says of itself.
    public var declared: DeclaredBehaviour {
        var declared = DeclaredBehaviour()
        if self.declaresCode { declared.anonymousCodeRegions = 1 }
        return declared
    }

    /// What follows from signals.
    public var policy: TamperPolicy {
        self.refuses ? TamperPolicy(TamperPolicy.refusing.rules, ignoresDebuggers: false) : TamperPolicy()
    }

    /// What a just-in-time compiler does.
    public static func mapCode() {
        let code = mmap(nil, 65_536, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        // A return.
        if let code, code != MAP_FAILED { code.storeBytes(of: 0xC3, as: UInt8.self) }
    }
}
