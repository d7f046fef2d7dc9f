// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Dispatch
import Foundation

/// (e): cases a second through `tumbler evaluate --batch`, reading and writing JSON included, on all cores.
struct BatchBenchmark {
    /// The command line that was built.
    let tumbler: String

    func run(_ report: inout Report) throws {
        print("tumbler evaluate --batch:")
        for chain in [try TestChain.ellipticCurve(), try TestChain.rsa()] {
            let count = 4_000
            let texts = chain.certificates.map { PEMBlock(label: PEMBlock.certificateLabel, bytes: $0).text }
            let time = Timestamp(secondsSince1970: chain.time)
            let question: [String: Any] = [
                "id": "x", "host": chain.host, "chain": Array(texts.dropLast()), "roots": [texts[2]],
                "at": time.description, "pins": [try Pin(publicKeyOf: chain.certificates[1]).description],
            ]
            let line = try JSONSerialization.data(withJSONObject: question) + Data("\n".utf8)
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-bench-\(UUID()).jsonl")
            defer { try? FileManager.default.removeItem(at: file) }
            try Data((0..<count).flatMap { _ in line }).write(to: file)

            let process = Process()
            process.executableURL = URL(fileURLWithPath: self.tumbler)
            process.arguments = ["evaluate", "--batch", file.path]
            let output = Pipe()
            process.standardOutput = output
            let start = DispatchTime.now().uptimeNanoseconds
            try process.run()
            let answers = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            let seconds = Double(DispatchTime.now().uptimeNanoseconds - start) / 1_000_000_000
            let allowed = String(decoding: answers, as: UTF8.self).split(separator: "\n").count {
                $0.contains("\"allow\"")
            }
            report.limit("cases of \(count) that were not allowed", Double(count - allowed), atMost: 0)
            let cores = ProcessInfo.processInfo.activeProcessorCount
            report.figure("(e) \(chain.name)", "\(Int(Double(count) / seconds)) cases a second on \(cores) cores")
        }
    }
}
