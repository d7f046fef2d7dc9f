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

    func executableRegions() throws(Unobservable) -> [MemoryRegion] { try self.noted("regions").executableRegions() }
    func changedPages(_ scope: PageScope) throws(Unobservable) -> [ChangedPages] {
        try self.noted("pages").changedPages(scope)
    }
    func copiedCode() throws(Unobservable) -> [ChangedPages] { try self.noted("copies").copiedCode() }
    func bytes(at address: UInt64, count: Int) throws(Unobservable) -> [UInt8] {
        try self.noted("memory").bytes(at: address, count: count)
    }
    func bytes(at addresses: [UInt64], count: Int) throws(Unobservable) -> [[UInt8]] {
        try self.noted("places").bytes(at: addresses, count: count)
    }
    func loadedImages() throws(Unobservable) -> [String] { try self.noted("images").loadedImages() }
    func status() throws(Unobservable) -> ProcessStatus { try self.noted("status").status() }
    func threadNames() throws(Unobservable) -> [String] { try self.noted("threads").threadNames() }
    func descriptors() throws(Unobservable) -> [OpenDescriptor] { try self.noted("descriptors").descriptors() }
    func environment() throws(Unobservable) -> [EnvironmentVariable] { try self.noted("environment").environment() }
    func parentName() throws(Unobservable) -> String? { try self.noted("parent").parentName() }
    func peerPorts() throws(Unobservable) -> [UInt16] { try self.noted("peers").peerPorts() }
    func exists(_ path: String) throws(Unobservable) -> Bool { try self.noted("exists").exists(path) }
    func linkTarget(of path: String) throws(Unobservable) -> String? { try self.noted("link").linkTarget(of: path) }
    func canWrite(at path: String) throws(Unobservable) -> Bool { try self.noted("write").canWrite(at: path) }
    func canFork() throws(Unobservable) -> Bool { try self.noted("fork").canFork() }
    func canOpen(scheme: String) throws(Unobservable) -> Bool { try self.noted("scheme").canOpen(scheme: scheme) }
    func answer(
        onLoopbackPort port: UInt16, to request: [UInt8], atMost limit: Int, milliseconds: Int
    ) throws(Unobservable) -> [UInt8]? {
        try self.noted("answer")
            .answer(onLoopbackPort: port, to: request, atMost: limit, milliseconds: milliseconds)
    }
    func contents(of path: String, atMost limit: Int) throws(Unobservable) -> [UInt8]? {
        try self.noted("contents").contents(of: path, atMost: limit)
    }
    func bytes(of path: String, at offset: UInt64, count: Int) throws(Unobservable) -> [UInt8] {
        try self.noted("file").bytes(of: path, at: offset, count: count)
    }
}
#endif
