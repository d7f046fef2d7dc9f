// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@testable import RuntimeParsers

/// A machine of which all that is known are some bytes: each question is answered out of them.
struct DescribedMachine: ObservedMachine {
    /// The bytes' lines, as names.
    let names: [String]
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        self.names = bytes.split(separator: 0x0A).prefix(64).map { String(decoding: $0, as: UTF8.self) }
    }

    func executableRegions() throws(ObservationError) -> [MemoryRegion] {
        var list = ExecutableRegions()
        var failure: ObservationError?
        self.bytes.withUnsafeBytes { piece in
            do throws(ObservationError) { try list.read(piece) } catch { failure = error }
        }
        if let failure { throw failure }
        return list.regions
    }

    func changedPages(_ scope: PageScope) throws(ObservationError) -> [ChangedPages] {
        self.names.enumerated().map { ChangedPages(path: $0.element, count: $0.offset + 1) }
    }

    func copiedCode() throws(ObservationError) -> [ChangedPages] { try self.changedPages(.everything) }
    func bytes(at address: UInt64, count: Int) throws(ObservationError) -> [UInt8] { Array(self.bytes.prefix(count)) }
    func loadedImages() throws(ObservationError) -> [String] { self.names }
    func status() throws(ObservationError) -> ProcessStatus { try ProcessStatus(parsing: self.bytes) }
    func threadNames() throws(ObservationError) -> [String] { self.names }
    func descriptors() throws(ObservationError) -> [OpenDescriptor] {
        self.names.map { OpenDescriptor(number: 3, target: $0) }
    }
    func environment() throws(ObservationError) -> [EnvironmentVariable] { EnvironmentVariable.parse(self.bytes) }
    func parentName() throws(ObservationError) -> String? { self.names.first }
    func peerPorts() throws(ObservationError) -> [UInt16] { self.bytes.map { UInt16($0) } }
    func answer(
        onLoopbackPort port: UInt16, to request: [UInt8], atMost limit: Int, milliseconds: Int
    ) throws(ObservationError) -> [UInt8]? { Array(self.bytes.prefix(limit)) }
    func exists(_ path: String) throws(ObservationError) -> Bool { false }
    func linkTarget(of path: String) throws(ObservationError) -> String? { self.names.first }
    func contents(of path: String, atMost limit: Int) throws(ObservationError) -> [UInt8]? { self.bytes }
    func bytes(of path: String, at offset: UInt64, count: Int) throws(ObservationError) -> [UInt8] { self.bytes }
    func canWrite(at path: String) throws(ObservationError) -> Bool { false }
    func canFork() throws(ObservationError) -> Bool { false }
    func canOpen(scheme: String) throws(ObservationError) -> Bool { false }
}
