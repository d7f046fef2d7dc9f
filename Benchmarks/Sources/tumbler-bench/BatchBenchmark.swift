// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Dispatch
import Foundation
import PathValidation

/// (e): cases a second through `tumbler evaluate --batch`, reading and writing JSON included, beside what all cores do in
/// path validations alone. In turn, and the median of the pairs' ratios: one pair alone is 1.3 where the system gives a core to
/// something else for a while.
struct BatchBenchmark {
    /// The command line that was built.
    let tumbler: String

    /// The least share of that.
    static let minimum = 0.8

    /// The number of pairs.
    private static let pairs = 5

    func run(_ report: inout Report) async throws {
        print("tumbler evaluate --batch:")
        // About two seconds each: what starting the program takes does not count.
        for (chain, count) in [(try TestChain.ellipticCurve(), 4_000), (try TestChain.rsa(), 16_000)] {
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

            let cores = ProcessInfo.processInfo.activeProcessorCount
            var (taken, alone, notAllowed): ([Double], [Double], Int) = ([], [], 0)
            for _ in 0..<Self.pairs {
                let (seconds, allowed) = try self.evaluate(file)
                notAllowed += count - allowed
                taken.append(seconds)
                alone.append(try await self.validations(of: chain, count: count, on: cores))
            }
            let ratio = zip(taken, alone).map { $0 / $1 }.sorted()[Self.pairs / 2]
            report.limit("cases of \(count * Self.pairs) that were not allowed", Double(notAllowed), atMost: 0)
            let rate = { (seconds: [Double]) in Int(Double(count) / seconds.sorted()[Self.pairs / 2]) }
            report.figure("(e) \(chain.name)", "\(rate(taken)) cases a second on \(cores) cores")
            report.figure("    path validations alone", "\(rate(alone)) a second")
            report.limit("path validations alone : (e)", ratio, atMost: 1 / Self.minimum)
        }
    }

    /// The seconds that the program takes for a file of questions, and the number of answers that allow.
    private func evaluate(_ file: URL) throws -> (seconds: Double, allowed: Int) {
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
        let lines = String(decoding: answers, as: UTF8.self).split(separator: "\n")
        return (seconds, lines.count { $0.contains("\"allow\"") })
    }

    /// The seconds that so many path validations take, each core with its share.
    private func validations(of chain: TestChain, count: Int, on cores: Int) async throws -> Double {
        let validator = PathValidator(
            roots: RootStore(certificates: [chain.certificates[2]]),
            monotonicNanoseconds: { DispatchTime.now().uptimeNanoseconds })
        let presented = Array(chain.certificates.dropLast())
        let (host, time) = (try HostName(chain.host), Timestamp(secondsSince1970: chain.time))
        let start = DispatchTime.now().uptimeNanoseconds
        await withTaskGroup { group in
            for _ in 0..<cores {
                group.addTask {
                    for _ in 0..<(count / cores) {
                        keep(await validator.validate(presented: presented, as: .host(host), at: time))
                    }
                }
            }
        }
        return Double(DispatchTime.now().uptimeNanoseconds - start) / 1_000_000_000
    }
}
