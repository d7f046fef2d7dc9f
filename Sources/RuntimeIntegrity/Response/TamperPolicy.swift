// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CRuntimeProbe

/// The policy that maps signals to actions.
///
/// By default each signal is recorded and attached to reports, without other actions. A signal refuses, wipes or ends
/// only where a rule names that action for that signal; wiping and ending need two such signals of different families.
public struct TamperPolicy: Hashable, Sendable {
    /// The number of families that must agree before an action that cannot be undone.
    public static let familiesForTheIrreversible = 2

    /// The actions beside recording and attaching.
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
    ///   - rules: The actions beside recording and attaching; none by default.
    ///   - ignoresDebuggers: True in debug builds by default.
    public init(_ rules: [TamperRule] = [], ignoresDebuggers: Bool = Self.isDebugBuild) {
        self.rules = rules
        self.ignoresDebuggers = ignoresDebuggers
    }

    /// A policy that refuses pinned connections for signals that no honest process is known to show: injected code,
    /// changed code, debuggers.
    public static var refusing: Self {
        let names: [SignalName] = [
            .knownAgent, .codeWithoutFile, .anonymousCode, .writableCode, .splitCode, .changedCodePages, .changedCode,
            .hookedFunction, .redirectedCall, .breakpoint,
            .debuggerAttached, .agentThread, .agentConnection, .canaryAccepted,
        ]
        return Self(names.map { TamperRule($0, [.refuse]) })
    }

    /// The conclusion from these signals.
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

    /// The names that go into reports, in the order of the signals. Beyond the limit of a report those of the highest
    /// confidence stay.
    private static func attached(_ signals: [TamperSignal]) -> [String] {
        var confidence: [SignalName: Confidence] = [:]
        var names: [SignalName] = []
        for signal in signals {
            if confidence[signal.name] == nil { names.append(signal.name) }
            confidence[signal.name] = max(confidence[signal.name] ?? signal.confidence, signal.confidence)
        }
        // `sorted` is stable.
        let surest = Set(
            names.sorted { (confidence[$0] ?? .low) > (confidence[$1] ?? .low) }.prefix(TamperDecision.maximumAttached))
        return names.filter(surest.contains).map(\.description)
    }

    private func isIgnored(_ signal: TamperSignal) -> Bool {
        guard self.ignoresDebuggers else { return false }
        return signal.name.family == .debugger || [.breakpoint, .changedCodePages, .changedCode].contains(signal.name)
    }
}

/// A rule: the actions of an app for one signal, beside recording and attaching it.
public struct TamperRule: Hashable, Sendable {
    /// The signal.
    public let signal: SignalName

    /// The actions.
    public let actions: Set<TamperAction>

    /// The minimum confidence for the actions.
    public let from: Confidence

    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - signal: The signal.
    ///   - actions: The actions.
    ///   - confidence: Signals of low confidence are seen in honest processes, so that the default is medium.
    public init(_ signal: SignalName, _ actions: Set<TamperAction>, from confidence: Confidence = .medium) {
        self.signal = signal
        self.actions = actions
        self.from = confidence
    }
}

/// An action of an app for a signal.
public struct TamperAction: Hashable, Sendable, CustomStringConvertible {
    /// The action's name.
    public let description: String

    private init(_ description: String) { self.description = description }

    /// The signal is kept and streamed, as every signal is.
    public static let record = Self("record")
    /// Its name is attached to reports of failures.
    public static let attach = Self("attach")
    /// Pinned connections are refused from now on.
    public static let refuse = Self("refuse")
    /// The app's hook that removes secrets is called.
    public static let wipe = Self("wipe")
    /// The process ends.
    public static let end = Self("end")
}

/// The conclusion from the signals so far.
public struct TamperDecision: Hashable, Sendable {
    /// The maximum number of names in a report (formats.md, section 5).
    public static let maximumAttached = 32

    /// The names of signals that go into reports of failures.
    public let attached: [String]

    /// Whether pinned connections are refused.
    public let refuses: Bool

    /// Whether the app's hook removes secrets.
    public let wipes: Bool

    /// Whether the process ends.
    public let ends: Bool
}

/// The app's functions for wiping and ending.
public struct TamperResponse: Sendable {
    /// Removes secrets: keys, tokens. Called once, on the thread that noticed the signal.
    public var wipe: @Sendable () -> Void

    /// Ends the process. Called once, after ``wipe``.
    public var end: @Sendable () -> Void

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - wipe: The function that removes secrets; by default none.
    ///   - end: The function that ends the process; by default the system's call.
    public init(
        wipe: @escaping @Sendable () -> Void = {}, end: @escaping @Sendable () -> Void = ProcessEnd.now
    ) {
        self.wipe = wipe
        self.end = end
    }
}

/// The end of this process.
public enum ProcessEnd {
    /// The status that it ends with: sysexits.h's `EX_SOFTWARE`, which does not reveal the reason.
    public static let status: Int32 = 70

    /// Ends it. On Linux by a system call of our own, so that a hooked `exit` does not keep it alive.
    @Sendable public static func now() { probe_end(self.status) }
}
