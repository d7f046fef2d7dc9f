// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Looks where calls from one library to another lead: the slots that the loader fills (GOT and PLT, bound pointers).
///
/// Looked at are those of the program and of the libraries in ``PageScope/changedFirst``.
public struct ImportDetector: TamperDetector {
    /// `imports`.
    public let name = "imports"
    /// Now and then: a millisecond.
    public let cost = DetectorCost.occasional

    /// Creates the detector.
    public init() {}

    /// Follows each slot.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(Unobservable) in
            let code = try LoadedCode(machine)
            let check = ImportSlots(in: code.images, memory: code.memory)
            var unread: String?
            for index in code.first {
                let file = PrintableEvidence.name(ofPath: code.images.all[index].path)
                guard let findings = try? check.findings(ofImage: index).findings else {
                    unread = file
                    continue
                }
                let interposed = findings.filter { $0.kind == .interposed }
                let redirected = findings.filter { ![.interposed, .unreadable].contains($0.kind) }
                if redirected.count + interposed.count < findings.count { unread = file }
                if let one = redirected.first {
                    let words =
                        "\(redirected.count) calls from \(file) lead elsewhere, such as that to \(Self.name(one))"
                    signals.append(.init(.redirectedCall, .high, words))
                }
                if let one = interposed.first {
                    let other = PrintableEvidence.name(ofPath: one.path ?? "another library")
                    signals.append(
                        .init(.interposedCall, .low, "calls from \(file) lead to \(other), \(Self.name(one)) for one"))
                }
            }
            if let unread = code.unread.first ?? unread { throw Unobservable(.refused, "calls of \(unread)") }
        }
    }

    private static func name(_ finding: ImportFinding) -> String { finding.slot.symbol ?? "a function" }
}
