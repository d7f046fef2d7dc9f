// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import RuntimeIntegrity

/// This process, and how often what was asked of it.
struct CountedMachine: ObservedMachine {
    /// A note for each question.
    let notes = CallNotes()
    private let real = LinuxMachine()

    /// How often each question was asked.
    var counts: [String: Int] { self.notes.all.reduce(into: [:]) { $0[$1, default: 0] += 1 } }

    private func noted(_ question: String) -> LinuxMachine {
        self.notes.note(question)
        return self.real
    }

    func executableRegions() throws(ObservationError) -> [MemoryRegion] {
        try self.noted("regions").executableRegions()
    }
    func changedPages(_ scope: PageScope) throws(ObservationError) -> [ChangedPages] {
        try self.noted("pages").changedPages(scope)
    }
    func copiedCode() throws(ObservationError) -> [ChangedPages] { try self.noted("copies").copiedCode() }
    func bytes(at address: UInt64, count: Int) throws(ObservationError) -> [UInt8] {
        try self.noted("memory").bytes(at: address, count: count)
    }
    func bytes(at addresses: [UInt64], count: Int) throws(ObservationError) -> [[UInt8]] {
        try self.noted("places").bytes(at: addresses, count: count)
    }
    func loadedImages() throws(ObservationError) -> [String] { try self.noted("images").loadedImages() }
    func status() throws(ObservationError) -> ProcessStatus { try self.noted("status").status() }
    func threadNames() throws(ObservationError) -> [String] { try self.noted("threads").threadNames() }
    func descriptors() throws(ObservationError) -> [OpenDescriptor] { try self.noted("descriptors").descriptors() }
    func environment() throws(ObservationError) -> [EnvironmentVariable] { try self.noted("environment").environment() }
    func parentName() throws(ObservationError) -> String? { try self.noted("parent").parentName() }
    func peerPorts() throws(ObservationError) -> [UInt16] { try self.noted("peers").peerPorts() }
    func exists(_ path: String) throws(ObservationError) -> Bool { try self.noted("exists").exists(path) }
    func linkTarget(of path: String) throws(ObservationError) -> String? { try self.noted("link").linkTarget(of: path) }
    func canWrite(at path: String) throws(ObservationError) -> Bool { try self.noted("write").canWrite(at: path) }
    func canFork() throws(ObservationError) -> Bool { try self.noted("fork").canFork() }
    func canOpen(scheme: String) throws(ObservationError) -> Bool { try self.noted("scheme").canOpen(scheme: scheme) }
    func answer(
        onLoopbackPort port: UInt16, to request: [UInt8], atMost limit: Int, milliseconds: Int
    ) throws(ObservationError) -> [UInt8]? {
        try self.noted("answer")
            .answer(onLoopbackPort: port, to: request, atMost: limit, milliseconds: milliseconds)
    }
    func contents(of path: String, atMost limit: Int) throws(ObservationError) -> [UInt8]? {
        try self.noted("contents").contents(of: path, atMost: limit)
    }
    func bytes(of path: String, at offset: UInt64, count: Int) throws(ObservationError) -> [UInt8] {
        try self.noted("file").bytes(of: path, at: offset, count: count)
    }
}
#endif
