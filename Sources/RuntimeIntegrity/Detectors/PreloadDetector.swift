// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Looks at libraries that are put before all others.
public struct PreloadDetector: TamperDetector {
    /// `preload`.
    public let name = "preload"
    /// Now and then: it cannot change while the process runs.
    public let cost = DetectorCost.occasional

    /// Variables by which loaders take libraries from the environment: ld.so(8), dyld(1).
    public static let variables = ["LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES"]

    /// Beginnings of the names of libraries that honest operators preload: clocks for tests, allocators, sanitizers.
    /// Their signal has low confidence; a hostile library can have such a name.
    public static let known = [
        "libfaketime", "libjemalloc", "libtcmalloc", "libmimalloc", "libasan", "libtsan", "libubsan", "libclang_rt",
        "libeatmydata", "libstdbuf", "libMainThreadChecker", "libBacktraceRecording", "libViewDebuggerSupport",
    ]

    private let declared: DeclaredBehaviour

    /// Creates the detector.
    public init(_ declared: DeclaredBehaviour = DeclaredBehaviour()) { self.declared = declared }

    /// Looks at the environment that the process was started with, and at the loader's own file.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        var answer = DetectorAnswer(of: self.name) { (signals) throws(Unobservable) in
            for variable in try machine.environment()
            where Self.variables.contains(variable.name) && !variable.value.isEmpty {
                let isKnown = variable.value.utf8.split { $0 == 0x3A || $0 == 0x20 }.allSatisfy(self.isKnown)
                signals.append(
                    .init(.preloadedLibrary, isKnown ? .low : .medium, "the environment sets \(variable.name)"))
            }
        }
        let file = DetectorAnswer(of: self.name) { (signals) throws(Unobservable) in
            let text = try machine.contents(of: "/etc/ld.so.preload", atMost: ObservationLimits.pathBytes)
            guard let text, text.contains(where: { $0 > 0x20 }) else { return }
            signals.append(.init(.preloadFile, .low, "the system preloads a library into every program"))
        }
        answer.signals += file.signals
        answer.blindSpots += file.blindSpots
        return answer
    }

    private func isKnown(_ path: Substring.UTF8View) -> Bool {
        let library = PrintableEvidence.name(ofPath: String(decoding: path, as: UTF8.self))
        return Self.known.contains { library.hasPrefix($0) }
            || self.declared.preloadedLibraries.contains { library.hasPrefix($0) }
    }
}
