// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Checks the targets of calls from one library to another: the slots that the loader fills (GOT and PLT, bound
/// pointers).
///
/// It checks those of the program and of the libraries in ``PageScope/changedFirst``, which takes tens of milliseconds
/// in a large program. While all slots and mappings are unchanged, the earlier answer is returned.
///
/// `@unchecked Sendable`: because the last answer is read and written under the lock only.
public final class ImportDetector: TamperDetector, @unchecked Sendable {
    /// `imports`.
    public let name = "imports"
    /// Occasional: it takes a millisecond when nothing changed.
    public let cost = DetectorCost.occasional

    /// The last answer, and the state that it is for.
    private struct Answer {
        let regions: [MemoryRegion]
        let slots: [CheckedSlots]
        let signals: [TamperSignal]
    }

    private let lock = NSLock()
    private var last: Answer?

    /// Creates the detector.
    public init() {}

    /// Follows each slot.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(ObservationError) in
            if let last = self.lock.withLock({ self.last }), try machine.executableRegions() == last.regions {
                let memory = LoadedCode.memory(of: machine)
                if last.slots.allSatisfy({ $0.stand(in: memory) }) { return signals += last.signals }
            }
            self.lock.withLock { self.last = nil }
            let code = try LoadedCode(machine)
            let check = ImportSlots(in: code.images, memory: code.memory)
            var evaluated: [CheckedSlots] = []
            var unread: String?
            for index in code.first {
                let image = code.images.all[index]
                let file = PrintableEvidence.name(ofPath: image.path)
                var slots = CheckedSlots(from: image.ranges.map(\.lowerBound).min() ?? 0)
                guard let findings = try? check.findings(ofImage: index, noting: { slots.note($0, at: $1) }).findings
                else {
                    unread = file
                    continue
                }
                if findings.contains(where: { $0.kind == .unreadable }) { unread = file }
                signals += Self.signals(findings, file)
                slots.sort()
                evaluated.append(slots)
            }
            if let unread = code.unread.first ?? unread { throw ObservationError(.refused, "calls of \(unread)") }
            guard evaluated.allSatisfy(\.isWhole) else { return }
            let answer = Answer(regions: code.regions, slots: evaluated, signals: signals)
            self.lock.withLock { self.last = answer }
        }
    }

    private static func signals(_ findings: [ImportFinding], _ file: String) -> [TamperSignal] {
        let interposed = findings.filter { $0.kind == .interposed }
        let redirected = findings.filter { ![.interposed, .unreadable].contains($0.kind) }
        var signals: [TamperSignal] = []
        if let one = redirected.first {
            let words = "\(redirected.count) calls from \(file) lead elsewhere, such as that to \(Self.name(one))"
            signals.append(.init(.redirectedCall, .high, words))
        }
        if let one = interposed.first {
            let other = PrintableEvidence.name(ofPath: one.path ?? "another library")
            signals.append(
                .init(.interposedCall, .low, "calls from \(file) lead to \(other), \(Self.name(one)) for one"))
        }
        return signals
    }

    private static func name(_ finding: ImportFinding) -> String { finding.slot.symbol ?? "a function" }
}
