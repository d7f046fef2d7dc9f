// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Compares code with the files that it was mapped from.
///
/// C's library, the loader and the libraries that make TLS as a whole; of the program and of everything else some part each
/// time, from a place that is left to chance: all of it is seen after some looks, and nobody knows when which.
public struct CodeDetector: TamperDetector {
    /// How many chunks of 64 KiB of the program are compared at a time: 8 MiB.
    static let chunksOfProgram = 128
    /// How many of the images that are neither that nor looked at as a whole: 4 MiB.
    static let chunksOfOthers = 64

    /// `code`.
    public let name = "code"
    /// Now and then: some milliseconds.
    public let cost = DetectorCost.occasional

    private let random: @Sendable () -> UInt64

    /// Creates the detector.
    ///
    /// - Parameter random: Where it begins with the program, and with everything else.
    public init(random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }) {
        self.random = random
    }

    /// Compares.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(Unobservable) in
            let code = try LoadedCode(machine)
            let first = Set(code.first)
            var found: [(path: String, result: CodeComparisonResult)] = []
            var program: [Part] = []
            var others: [Part] = []
            for (index, loaded) in code.images.all.enumerated() {
                guard let image = loaded.image,
                    let comparison = try? CodeComparison(of: image, bias: loaded.bias, memory: code.memory)
                else { continue }
                if index == 0 {
                    program.append(Part(path: loaded.path, comparison: comparison))
                } else if first.contains(index) {
                    found.append((loaded.path, comparison.result()))
                } else {
                    others.append(Part(path: loaded.path, comparison: comparison))
                }
            }
            found += self.some(Self.chunksOfProgram, of: program) + self.some(Self.chunksOfOthers, of: others)
            for (path, result) in found where !result.differences.isEmpty {
                signals.append(.init(.changedCode, .high, Self.words(path, result)))
            }
            if let path = code.unread.first ?? found.first(where: { !$0.result.unreadable.isEmpty })?.path {
                throw Unobservable(.refused, "code of \(PrintableEvidence.name(ofPath: path))")
            }
        }
    }

    /// An image of which some chunks are compared.
    private struct Part {
        let path: String
        let comparison: CodeComparison
    }

    /// The next chunks from somewhere on.
    private func some(_ chunks: Int, of parts: [Part]) -> [(path: String, result: CodeComparisonResult)] {
        var round = ComparisonRound(parts.map(\.comparison), from: self.random())
        return round.next(chunks).map { (parts[$0.index].path, $0.result) }
    }

    private static func words(_ path: String, _ result: CodeComparisonResult) -> String {
        let count = "\(result.differences.count)\(result.hasMore ? " or more" : "")"
        let symbol = result.differences.lazy.compactMap { $0.symbol?.name }.first.map { ", one of them in \($0)" } ?? ""
        return "code of \(PrintableEvidence.name(ofPath: path)) differs from its file in \(count) places\(symbol)"
    }
}
