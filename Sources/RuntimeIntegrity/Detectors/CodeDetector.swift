// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Compares code with the files that it was mapped from.
///
/// The program, C's library and the libraries that make TLS as a whole; of everything else some part each time, from a
/// place that is left to chance, so that all of it is seen after some looks and nobody knows when which.
public struct CodeDetector: TamperDetector {
    /// How many chunks of 64 KiB of other images are compared at a time: 8 MiB.
    static let chunks = 128

    /// `code`.
    public let name = "code"
    /// Now and then: some milliseconds.
    public let cost = DetectorCost.occasional

    private let random: @Sendable () -> UInt64

    /// Creates the detector.
    ///
    /// - Parameter random: Where it begins with everything else.
    public init(random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }) {
        self.random = random
    }

    /// Compares.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(Unobservable) in
            let code = try LoadedCode(machine)
            let first = Set(code.first)
            var found: [(path: String, result: CodeComparisonResult)] = []
            var others: [(path: String, comparison: CodeComparison)] = []
            for (index, loaded) in code.images.all.enumerated() {
                guard let image = loaded.image,
                    let comparison = try? CodeComparison(of: image, bias: loaded.bias, memory: code.memory)
                else { continue }
                if first.contains(index) {
                    found.append((loaded.path, comparison.result()))
                } else {
                    others.append((loaded.path, comparison))
                }
            }
            var round = ComparisonRound(others.map(\.comparison), from: self.random())
            found += round.next(Self.chunks).map { (others[$0.index].path, $0.result) }
            for (path, result) in found where !result.differences.isEmpty {
                signals.append(.init(.changedCode, .high, Self.words(path, result)))
            }
            if let path = code.unread.first ?? found.first(where: { !$0.result.unreadable.isEmpty })?.path {
                throw Unobservable(.refused, "code of \(PrintableEvidence.name(ofPath: path))")
            }
        }
    }

    private static func words(_ path: String, _ result: CodeComparisonResult) -> String {
        let count = "\(result.differences.count)\(result.hasMore ? " or more" : "")"
        let symbol = result.differences.lazy.compactMap { $0.symbol?.name }.first.map { ", one of them in \($0)" } ?? ""
        return "code of \(PrintableEvidence.name(ofPath: path)) differs from its file in \(count) places\(symbol)"
    }
}
