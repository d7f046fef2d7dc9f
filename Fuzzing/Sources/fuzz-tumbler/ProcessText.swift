// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@testable import RuntimeParsers

/// The texts of a system about a process: lists of mappings, the status, the environment, names, and answers of ports.
enum ProcessText: FuzzTarget {
    static let name = "process-text"

    static func check(_ bytes: [UInt8]) {
        self.checkMappings(bytes)
        self.checkCopies(bytes)
        self.checkStatus(bytes)
        self.checkEnvironment(bytes)
        self.checkDetectors(bytes)
    }

    /// The list comes in pieces, and says the same however it is cut. No executable mapping is left out.
    private static func checkMappings(_ bytes: [UInt8]) {
        func regions(_ piece: Int) -> [MemoryRegion]? {
            var list = ExecutableRegions()
            for piece in self.pieces(bytes, of: piece) {
                guard (try? piece.withUnsafeBytes { try list.read($0) }) != nil else { return nil }
            }
            return list.regions
        }
        let whole = regions(8_192)
        precondition(regions(1 + bytes.count % 97) == whole)
        guard let whole else { return }
        // The last line has no end, and is not read.
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast()
        let executable = lines.filter { line in
            line.firstIndex(of: 0x20).map { $0 + 3 < line.endIndex && line[$0 + 3] == 0x78 } ?? false
        }
        precondition(whole.count == executable.count && whole.count <= ExecutableRegions.maximum)
        for region in whole {
            precondition(region.start < region.end && region.permissions.contains(.execute))
            let line = Array(self.line(region).utf8)
            precondition(line.withUnsafeBytes { MemoryRegion(parsing: $0) } == region)
        }
    }

    private static func checkCopies(_ bytes: [UInt8]) {
        func changed(_ piece: Int) -> [ChangedPages]? {
            var code = CopiedCode(pageSize: 4_096)
            for piece in self.pieces(bytes, of: piece) {
                guard (try? piece.withUnsafeBytes { try code.read($0) }) != nil else { return nil }
            }
            return code.changed
        }
        let whole = changed(8_192)
        precondition(changed(1 + bytes.count % 89) == whole)
        for pages in whole ?? [] { precondition(pages.count >= 1) }
        precondition(whole?.count ?? 0 <= ExecutableRegions.maximum)
    }

    /// Checks that a status that was read and written says the same, and that an added tracer is seen.
    private static func checkStatus(_ bytes: [UInt8]) {
        guard let status = try? ProcessStatus(parsing: bytes) else { return }
        let text = "TracerPid:\t\(status.tracer)\nThreads:\t\(status.threads ?? 0)\n"
        precondition((try? ProcessStatus(parsing: Array(text.utf8))) == status)
        let traced = try? ProcessStatus(parsing: bytes + Array("\nTracerPid:\t77\n".utf8))
        precondition(traced == ProcessStatus(tracer: 77, threads: status.threads))
    }

    private static func checkEnvironment(_ bytes: [UInt8]) {
        let variables = EnvironmentVariable.parse(bytes)
        precondition(variables.allSatisfy { !$0.name.contains("=") })
        let text = variables.map { "\($0.name)=\($0.value)\0" }.joined()
        precondition(EnvironmentVariable.parse(Array(text.utf8)) == variables)
    }

    /// Nothing that a stranger wrote gets into a log as it is, and a known name is seen wherever it stands.
    private static func checkDetectors(_ bytes: [UInt8]) {
        let machine = DescribedMachine(bytes)
        let detectors: [any TamperDetector] = [
            MappingDetector(), PageDetector(.occasional), CopyDetector(), StatusDetector(), ThreadDetector(),
            DescriptorDetector(), ImageDetector(), PreloadDetector(), ParentDetector(), PortDetector(),
        ]
        var names: [String: Set<SignalName>] = [:]
        for detector in detectors {
            let answer = detector.look(at: machine)
            names[detector.name] = Set(answer.signals.map(\.name))
            for signal in answer.signals {
                precondition(signal.evidence.utf8.count <= TamperSignal.evidenceLength)
                precondition(signal.evidence.utf8.allSatisfy { (0x20...0x7E).contains($0) })
            }
        }
        let isAgent = machine.names.contains { name in
            let lower = name.utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
            return ["gum-js", "frida", "linjector"].contains { part in
                lower.indices.contains {
                    lower[$0...].starts(with: part.utf8) && !lower[$0...].starts(with: "friday".utf8)
                }
            }
        }
        precondition(names["threads"] == (isAgent ? [.agentThread] : []))
    }

    /// A list of parts of this many bytes.
    private static func pieces(_ bytes: [UInt8], of size: Int) -> [[UInt8]] {
        stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
    }

    /// A region as the system writes it.
    private static func line(_ region: MemoryRegion) -> String {
        let letters: [(MemoryRegion.Permissions, String, String)] = [
            (.read, "r", "-"), (.write, "w", "-"), (.execute, "x", "-"), (.shared, "s", "p"),
        ]
        let permissions = letters.map { region.permissions.contains($0.0) ? $0.1 : $0.2 }.joined()
        let place = "\(String(region.start, radix: 16))-\(String(region.end, radix: 16))"
        return "\(place) \(permissions) \(String(region.offset, radix: 16)) 00:00 \(region.inode) \(region.path)"
    }
}
