// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// From signals to actions.
///
/// By default everything is recorded and attached to reports, and nothing else happens. A signal refuses, wipes or ends
/// only where a rule names that action for that signal; wiping and ending need two such signals of different families.
public struct TamperPolicy: Hashable, Sendable {
    /// How many families have to agree before something is done that cannot be undone.
    public static let familiesForTheIrreversible = 2

    /// What is done beside recording and attaching.
    public var rules: [TamperRule]

    /// Whether signals of debuggers, and the breakpoints and changed pages that debuggers make, have no consequences.
    /// They are recorded all the same.
    public var ignoresDebuggers: Bool

    /// Whether this was compiled for debugging.
    public static var isDebugBuild: Bool {
        #if DEBUG
        true
        #else
        false
        #endif
    }

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - rules: What is done beside recording and attaching; nothing by default.
    ///   - ignoresDebuggers: True in debug builds by default.
    public init(_ rules: [TamperRule] = [], ignoresDebuggers: Bool = Self.isDebugBuild) {
        self.rules = rules
        self.ignoresDebuggers = ignoresDebuggers
    }

    /// Refuses pinned connections for what no honest process is known to show: injected code, changed code, debuggers.
    public static var refusing: Self {
        let names: [SignalName] = [
            .knownAgent, .codeWithoutFile, .anonymousCode, .writableCode, .splitCode, .changedCodePages, .changedCode,
            .hookedFunction, .redirectedCall, .breakpoint,
            .debuggerAttached, .agentThread, .agentConnection, .canaryAccepted,
        ]
        return Self(names.map { TamperRule($0, [.refuse]) })
    }

    /// What these signals lead to.
    public func decision(for signals: [TamperSignal]) -> TamperDecision {
        let counted = signals.filter { !self.isIgnored($0) }
        func families(_ action: TamperAction) -> Int {
            let causes = counted.filter { signal in
                self.rules.contains {
                    $0.signal == signal.name && $0.from <= signal.confidence && $0.actions.contains(action)
                }
            }
            return Set(causes.map(\.name.family)).count
        }
        return TamperDecision(
            attached: Self.attached(signals), refuses: families(.refuse) > 0,
            wipes: families(.wipe) >= Self.familiesForTheIrreversible,
            ends: families(.end) >= Self.familiesForTheIrreversible)
    }

    /// The names that go into reports, in the order of the signals. Of more than a report takes the surest stay.
    private static func attached(_ signals: [TamperSignal]) -> [String] {
        var confidence: [SignalName: Confidence] = [:]
        var names: [SignalName] = []
        for signal in signals {
            if confidence[signal.name] == nil { names.append(signal.name) }
            confidence[signal.name] = max(confidence[signal.name] ?? signal.confidence, signal.confidence)
        }
        // `sorted` is stable.
        let surest = Set(
            names.sorted { (confidence[$0] ?? .low) > (confidence[$1] ?? .low) }.prefix(TamperDecision.mostAttached))
        return names.filter(surest.contains).map(\.description)
    }

    private func isIgnored(_ signal: TamperSignal) -> Bool {
        guard self.ignoresDebuggers else { return false }
        return signal.name.family == .debugger || [.breakpoint, .changedCodePages, .changedCode].contains(signal.name)
    }
}
