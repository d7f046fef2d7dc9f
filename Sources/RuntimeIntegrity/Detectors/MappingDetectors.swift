// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Looks at executable mappings: code without a file, writable code, code in slivers.
///
/// An agent needs memory for its code, and a hook in a library needs its page made writable for a moment, which splits
/// the library's mapping. Both stay visible under any name of the tool; the second often stays after the tool has left.
public struct MappingDetector: TamperDetector {
    /// `mappings`.
    public let name = "mappings"
    /// Before each connection.
    public let cost = DetectorCost.connection

    private let declared: DeclaredBehaviour

    /// Creates the detector.
    public init(_ declared: DeclaredBehaviour = DeclaredBehaviour()) { self.declared = declared }

    /// Looks at all executable mappings.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(ObservationError) in
            let regions = try machine.executableRegions()
            self.files(regions, machine, &signals)
            self.anonymous(regions, &signals)
            self.slivers(regions, &signals)
        }
    }

    /// Finds code of files that have no place on the disk, or are writable.
    private func files(
        _ regions: [MemoryRegion], _ machine: any ObservedMachine, _ signals: inout [TamperSignal]
    ) {
        var last = ""
        for region in regions where region.hasFile {
            if region.permissions.contains(.write), !region.permissions.contains(.shared) {
                signals.append(.init(.writableCode, .high, "code of \(Self.name(of: region)) can be written to"))
            }
            guard region.path != last else { continue }
            last = region.path
            if AgentNames.libraries.isPart(of: Self.name(of: region)), !machine.isProgram(region.path) {
                signals.append(.init(.knownAgent, .high, "\(Self.name(of: region)) is loaded"))
            }
            if region.isMemoryFile {
                guard !self.declared.memoryFiles.contains(Self.name(of: region)) else { continue }
                signals.append(.init(.codeWithoutFile, .high, "code runs from a file that is in memory only"))
            } else if region.isDeleted {
                // Updates of the system do this to a running process.
                signals.append(.init(.codeOfDeletedFile, .low, "the file of \(Self.name(of: region)) is gone"))
            }
        }
    }

    /// Finds executable memory without a file.
    private func anonymous(_ regions: [MemoryRegion], _ signals: inout [TamperSignal]) {
        let anonymous = regions.filter(\.isAnonymous)
        guard anonymous.count > self.declared.anonymousCodeRegions else { return }
        let writable = anonymous.filter { $0.permissions.contains(.write) }.count
        let evidence = "\(anonymous.count) executable regions without a file, \(writable) of them writable"
        let declared = "declared are \(self.declared.anonymousCodeRegions)"
        signals.append(.init(.anonymousCode, .medium, "\(evidence); \(declared)"))
    }

    /// Finds code of one file in several adjacent mappings: the protection of a part was changed.
    private func slivers(_ regions: [MemoryRegion], _ signals: inout [TamperSignal]) {
        var count = 1
        for (index, region) in regions.enumerated() {
            let next = index + 1 < regions.count ? regions[index + 1] : nil
            if let next, region.continues(with: next) {
                count += 1
            } else {
                if count > 1, !region.isMemoryFile {
                    signals.append(
                        .init(.splitCode, .medium, "the code of \(Self.name(of: region)) is in \(count) parts"))
                }
                count = 1
            }
        }
    }

    /// The name of a region's file, without the system's marks.
    private static func name(of region: MemoryRegion) -> String {
        var path = region.path[...]
        if region.isMemoryFile { path = path.dropFirst("/memfd:".count) }
        if region.isDeleted { path = path.dropLast(MemoryRegion.deletedMark.count) }
        return PrintableEvidence.name(ofPath: String(path))
    }
}

/// Looks at pages of code that are no longer their file's.
///
/// A write into code, by a hook or by a debugger's breakpoint, makes a copy of the page. It stays a copy when the
/// old bytes are restored, so the detector also finds tools that have left. Measured programs (C, Swift, Python) have
/// none. Probes of the kernel (uprobes), by which operators watch a process, make such copies as well: they can read
/// what TLS protects, so the signal is right, and the operator knows its cause.
public struct PageDetector: TamperDetector {
    /// `pages`, or `some-pages` before a connection.
    public let name: String
    /// Before each connection, or occasional for all code.
    public let cost: DetectorCost

    private let random: @Sendable () -> UInt64

    /// Creates the detector.
    ///
    /// - Parameters:
    ///   - cost: Before each connection it looks at ``PageScope/perConnection(choice:)``, else at all code.
    ///   - random: The source of the random pages of a large program.
    public init(
        _ cost: DetectorCost, random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }
    ) {
        self.cost = cost
        self.name = cost == .connection ? "some-pages" : "pages"
        self.random = random
    }

    /// Looks at the state of each page.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(ObservationError) in
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

/// Looks at pages of code that are no longer their file's, in another way than ``PageDetector``.
///
/// An attacker who silences one of the two has not silenced the other: they use different system calls, and share no
/// code. A process that may not read the state of its single pages (`PR_SET_DUMPABLE` is 0) can still read this.
public struct CopyDetector: TamperDetector {
    /// `copies`.
    public let name = "copies"
    /// Occasional: the system counts all pages of the process for it.
    public let cost = DetectorCost.occasional

    /// Creates the detector.
    public init() {}

    /// Reads the system's counts.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        let copied: [ChangedPages]
        do throws(ObservationError) {
            copied = try machine.copiedCode()
        } catch {
            var answer = DetectorAnswer()
            answer.blindSpots.append(BlindSpot(detector: self.name, reason: error))
            return answer
        }
        guard let first = copied.first else { return DetectorAnswer() }
        let pages = copied.reduce(0) { $0 + $1.count }
        let file = PrintableEvidence.name(ofPath: first.path)
        return DetectorAnswer([
            TamperSignal(.changedCodePages, .high, "\(pages) pages of code were changed, the first in \(file)")
        ])
    }
}

/// Looks at the names of the libraries that are loaded.
public struct ImageDetector: TamperDetector {
    /// `images`.
    public let name = "images"
    /// Occasional: at start and at random times.
    public let cost = DetectorCost.occasional

    /// Creates the detector.
    public init() {}

    /// Looks at the files' names, not at the folders that they lie in.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(ObservationError) in
            for path in try machine.loadedImages() {
                let name = PrintableEvidence.name(ofPath: path)
                guard AgentNames.libraries.isPart(of: name), !machine.isProgram(path) else { continue }
                signals.append(.init(.knownAgent, .high, "\(name) is loaded"))
                return
            }
        }
    }
}

/// Looks for libraries that are loaded before all others.
public struct PreloadDetector: TamperDetector {
    /// `preload`.
    public let name = "preload"
    /// Occasional: it cannot change while the process runs.
    public let cost = DetectorCost.occasional

    /// The environment variables with libraries for loaders: ld.so(8), dyld(1).
    static let variables = ["LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES"]

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
        var answer = DetectorAnswer(of: self.name) { (signals) throws(ObservationError) in
            for variable in try machine.environment()
            where Self.variables.contains(variable.name) && !variable.value.isEmpty {
                let isKnown = variable.value.utf8.split { $0 == 0x3A || $0 == 0x20 }.allSatisfy(self.isKnown)
                signals.append(
                    .init(.preloadedLibrary, isKnown ? .low : .medium, "the environment sets \(variable.name)"))
            }
        }
        let file = DetectorAnswer(of: self.name) { (signals) throws(ObservationError) in
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
