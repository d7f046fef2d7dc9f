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
        DetectorAnswer(of: self.name) { (signals) throws(Unobservable) in
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
