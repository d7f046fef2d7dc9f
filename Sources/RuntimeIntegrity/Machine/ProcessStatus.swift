// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// What the system says of this process.
public struct ProcessStatus: Hashable, Sendable {
    /// The process that traces this one; 0 for none; -1 where the system says only that there is one.
    public let tracer: Int32

    /// How many threads it has; `nil` where the system does not say.
    public let threads: Int?

    /// Creates a value.
    public init(tracer: Int32, threads: Int?) {
        self.tracer = tracer
        self.threads = threads
    }

    /// Reads `/proc/self/status` (proc(5)): a name, a colon, white space and a value on each line.
    ///
    /// - Throws: ``Unobservable`` when one of the two is missing or no number: a file that was tampered with is no
    ///   sign that nobody traces.
    init(parsing bytes: [UInt8]) throws(Unobservable) {
        var tracer: Int32?
        var threads: Int?
        for line in bytes.split(separator: 0x0A) {
            if line.starts(with: Array("TracerPid:".utf8)) { tracer = Self.number(line).flatMap(Int32.init(exactly:)) }
            if line.starts(with: Array("Threads:".utf8)) { threads = Self.number(line) }
        }
        guard let tracer, let threads else { throw Unobservable(.malformed, "status") }
        self.init(tracer: tracer, threads: threads)
    }

    private static func number(_ line: ArraySlice<UInt8>) -> Int? {
        guard let colon = line.firstIndex(of: 0x3A) else { return nil }
        return Int(String(decoding: line[(colon + 1)...].filter { $0 != 0x09 && $0 != 0x20 }, as: UTF8.self))
    }
}
