// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Looks at what is mapped executable: code without a file, code that can be written to, code in slivers.
///
/// An agent needs memory for its code, and a hook in a library needs its page made writable for a moment, which splits
/// the library's mapping. Both stay visible however the tool is named; the second often stays after it has left.
public struct MappingDetector: TamperDetector {
    /// `mappings`.
    public let name = "mappings"
    /// Each connection.
    public let cost = DetectorCost.connection

    private let declared: DeclaredBehaviour

    /// Creates the detector.
    public init(_ declared: DeclaredBehaviour = DeclaredBehaviour()) { self.declared = declared }

    /// Looks at all executable mappings.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(ObservationError) in
            let regions = try machine.executableRegions()
            self.files(regions, &signals)
            self.anonymous(regions, &signals)
            self.slivers(regions, &signals)
        }
    }

    /// Code of files that have no place on the disk, or can be written to.
    private func files(_ regions: [MemoryRegion], _ signals: inout [TamperSignal]) {
        var last = ""
        for region in regions where region.hasFile {
            if region.permissions.contains(.write), !region.permissions.contains(.shared) {
                signals.append(.init(.writableCode, .high, "code of \(Self.name(of: region)) can be written to"))
            }
            guard region.path != last else { continue }
            last = region.path
            if AgentNames.libraries.isPart(of: Self.name(of: region)) {
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

    /// Executable memory without a file.
    private func anonymous(_ regions: [MemoryRegion], _ signals: inout [TamperSignal]) {
        let anonymous = regions.filter(\.isAnonymous)
        guard anonymous.count > self.declared.anonymousCodeRegions else { return }
        let writable = anonymous.filter { $0.permissions.contains(.write) }.count
        let evidence = "\(anonymous.count) executable regions without a file, \(writable) of them writable"
        let declared = "declared are \(self.declared.anonymousCodeRegions)"
        signals.append(.init(.anonymousCode, .medium, "\(evidence); \(declared)"))
    }

    /// Code of one file in several mappings that lie side by side: something changed the protection of a part.
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

    /// The name of a region's file, without what the system writes around it.
    private static func name(of region: MemoryRegion) -> String {
        var path = region.path[...]
        if region.isMemoryFile { path = path.dropFirst("/memfd:".count) }
        if region.isDeleted { path = path.dropLast(" (deleted)".count) }
        return PrintableEvidence.name(ofPath: String(path))
    }
}

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

/// Looks at pages of code that are no longer their file's, by another way than ``PageDetector``.
///
/// Who silences one of the two has not silenced the other: they ask the system for different things, and have no code
/// in common. A process that may not read the state of its single pages (`PR_SET_DUMPABLE` is 0) can still read this.
public struct CopyDetector: TamperDetector {
    /// `copies`.
    public let name = "copies"
    /// Now and then: the system counts all pages of the process for it.
    public let cost = DetectorCost.occasional

    /// Creates the detector.
    public init() {}

    /// Looks at the system's counts.
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
    /// Now and then.
    public let cost = DetectorCost.occasional

    /// Creates the detector.
    public init() {}

    /// Looks at the files' names, not at the folders that they lie in.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(ObservationError) in
            for path in try machine.loadedImages() {
                let name = PrintableEvidence.name(ofPath: path)
                guard AgentNames.libraries.isPart(of: name) else { continue }
                signals.append(.init(.knownAgent, .high, "\(name) is loaded"))
                return
            }
        }
    }
}

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
