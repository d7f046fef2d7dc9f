// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Looks at pages of code that are no longer their file's.
///
/// Whoever writes into code, by a hook or by a debugger's breakpoint, gets a copy of the page. It stays a copy when the
/// old bytes are put back: this sees who was here and left. Programs that were looked at (C, Swift, Python) have none.
/// Probes of the kernel (uprobes), by which operators watch a process, make such copies as well: they can read what TLS
/// protects, so the signal is right, and the operator knows.
public struct PageDetector: TamperDetector {
    /// `pages`, or `some-pages` before a connection.
    public let name: String
    /// Each connection, or now and then for all code.
    public let cost: DetectorCost

    private let random: @Sendable () -> UInt64

    /// Creates the detector.
    ///
    /// - Parameters:
    ///   - cost: Before each connection it looks at ``PageScope/perConnection(choice:)``, else at all code.
    ///   - random: Which pages of a large program.
    public init(
        _ cost: DetectorCost, random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }
    ) {
        self.cost = cost
        self.name = cost == .connection ? "some-pages" : "pages"
        self.random = random
    }

    /// Looks at the state of each page.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(Unobservable) in
            var counts: [(path: String, count: Int)] = []
            let scope = self.cost == .connection ? PageScope.perConnection(choice: self.random()) : .everything
            for changed in try machine.changedPages(scope) {
                if counts.last?.path == changed.path {
                    counts[counts.count - 1].count += changed.count
                } else {
                    counts.append((changed.path, changed.count))
                }
            }
            for (path, count) in counts {
                let file = PrintableEvidence.name(ofPath: path)
                signals.append(.init(.changedCodePages, .high, "\(count) pages of the code of \(file) were changed"))
            }
        }
    }
}
