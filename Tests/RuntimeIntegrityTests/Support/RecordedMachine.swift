// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import RuntimeIntegrity

/// A machine that shows what was recorded of a real one. What can be hooked can be silenced here.
struct RecordedMachine: ObservedMachine {
    /// What a machine can be asked.
    enum Question: CaseIterable {
        case regions, pages, copies, images, status, threads, descriptors, environment, parent, peers, port
    }

    /// How a question is answered.
    enum Way {
        /// As it was recorded.
        case recorded
        /// As nothing: what a hook does that hides its author.
        case hooked
        /// Not at all.
        case refused
    }

    var regions: [MemoryRegion] = []
    var pages: [ChangedPages] = []
    var memory: [UInt64: [UInt8]] = [:]
    var statusBytes = Array("TracerPid:\t0\nThreads:\t1\n".utf8)
    var threads: [String] = []
    var openDescriptors: [OpenDescriptor] = []
    var variables: [EnvironmentVariable] = []
    var parent = "sh"
    var peers: [UInt16] = []
    var portAnswers: [UInt16: @Sendable ([UInt8]) -> [UInt8]?] = [:]
    var files = RecordedFiles()
    var program: String?
    var bundle: String?
    var receipt: String?
    var ways: [Question: Way] = [:]

    /// A machine on which nothing is.
    init() {}

    /// A recording, as `Tests/Tampering/record.py` writes it.
    init(_ name: String) throws {
        let folder = RecordedFiles.folder.appendingPathComponent(name)
        func bytes(_ file: String) throws -> [UInt8] {
            try Array(Data(contentsOf: folder.appendingPathComponent(file)))
        }
        func lines(_ file: String) throws -> [String] {
            String(decoding: try bytes(file), as: UTF8.self).split(separator: "\n").map(String.init)
        }
        var list = ExecutableRegions()
        try bytes("maps").withUnsafeBytes { try list.read($0) }
        self.regions = list.regions
        self.pages = try lines("pages").map { line in
            let words = line.split(separator: " ", maxSplits: 1)
            return ChangedPages(path: String(words[1]), count: Int(words[0]) ?? 0)
        }
        self.statusBytes = try bytes("status")
        self.threads = try lines("threads")
        self.openDescriptors = try lines("descriptors").map { line in
            let words = line.split(separator: " ", maxSplits: 1)
            return OpenDescriptor(number: Int32(words[0]) ?? -1, target: String(words[1]))
        }
        self.variables = EnvironmentVariable.parse(try bytes("environ").map { $0 == 0x0A ? 0 : $0 })
        self.parent = try lines("parent").first ?? ""
        self.peers = try lines("peers").compactMap(UInt16.init)
    }

    /// The answer to a question, the way it is answered.
    private func answer<Answer>(
        _ question: Question, _ recorded: Answer, nothing: Answer
    ) throws(ObservationError) -> Answer {
        switch self.ways[question] ?? .recorded {
        case .recorded: return recorded
        case .hooked: return nothing
        case .refused: throw ObservationError(.refused, "\(question)")
        }
    }

    func executableRegions() throws(ObservationError) -> [MemoryRegion] {
        try self.answer(.regions, self.regions, nothing: [])
    }

    func changedPages(_ scope: PageScope) throws(ObservationError) -> [ChangedPages] {
        try self.answer(.pages, self.pages, nothing: [])
    }

    func copiedCode() throws(ObservationError) -> [ChangedPages] {
        try self.answer(.copies, self.pages, nothing: [])
    }

    func bytes(at address: UInt64, count: Int) throws(ObservationError) -> [UInt8] {
        guard let bytes = self.memory[address] else { throw ObservationError(.missing, "code") }
        return bytes
    }

    func loadedImages() throws(ObservationError) -> [String] {
        try self.answer(.images, self.regions.filter(\.hasFile).map(\.path), nothing: [])
    }

    func status() throws(ObservationError) -> ProcessStatus {
        try self.answer(
            .status, ProcessStatus(parsing: self.statusBytes), nothing: ProcessStatus(tracer: 0, threads: 1))
    }

    func threadNames() throws(ObservationError) -> [String] { try self.answer(.threads, self.threads, nothing: []) }

    func descriptors() throws(ObservationError) -> [OpenDescriptor] {
        try self.answer(.descriptors, self.openDescriptors, nothing: [])
    }

    func environment() throws(ObservationError) -> [EnvironmentVariable] {
        try self.answer(.environment, self.variables, nothing: [])
    }

    func parentName() throws(ObservationError) -> String? { try self.answer(.parent, self.parent, nothing: "sh") }

    func peerPorts() throws(ObservationError) -> [UInt16] { try self.answer(.peers, self.peers, nothing: []) }

    func answer(
        onLoopbackPort port: UInt16, to request: [UInt8], atMost limit: Int, milliseconds: Int
    ) throws(ObservationError) -> [UInt8]? {
        guard let answers = try self.answer(.port, self.portAnswers[port], nothing: nil) else { return nil }
        guard let answer = answers(request) else { throw ObservationError(.late, "port") }
        return Array(answer.prefix(limit))
    }

    func exists(_ path: String) throws(ObservationError) -> Bool { try self.files.exists(path) }

    func linkTarget(of path: String) throws(ObservationError) -> String? { self.files.links[path] }

    func bytes(of path: String, at offset: UInt64, count: Int) throws(ObservationError) -> [UInt8] {
        guard let file = self.files.contents[path], offset < UInt64(file.count) else {
            throw ObservationError(.missing, "file")
        }
        return Array(file[Int(offset)...].prefix(count))
    }

    func contents(of path: String, atMost limit: Int) throws(ObservationError) -> [UInt8]? {
        guard let bytes = self.files.contents[path] else { return nil }
        guard bytes.count <= limit else { throw ObservationError(.tooLarge, "file") }
        return bytes
    }

    func programPath() throws(ObservationError) -> String { try Self.known(self.program, "program") }

    func bundleIdentifier() throws(ObservationError) -> String { try Self.known(self.bundle, "bundle") }

    func receiptPath() throws(ObservationError) -> String { try Self.known(self.receipt, "receipt") }

    private static func known(_ text: String?, _ subject: String) throws(ObservationError) -> String {
        guard let text else { throw ObservationError(.unsupported, subject) }
        return text
    }

    func canWrite(at path: String) throws(ObservationError) -> Bool {
        self.files.writableFolders.contains { path.hasPrefix($0 + "/") }
    }

    func canFork() throws(ObservationError) -> Bool { self.files.forks }

    func canOpen(scheme: String) throws(ObservationError) -> Bool { self.files.schemes.contains(scheme) }
}
