// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The status of this process.
public struct ProcessStatus: Hashable, Sendable {
    /// The process that traces this one; 0 for none; -1 where the system says only that there is one.
    public let tracer: Int32

    /// The number of threads; `nil` where it is not known.
    public let threads: Int?

    /// Creates a value.
    public init(tracer: Int32, threads: Int?) {
        self.tracer = tracer
        self.threads = threads
    }

    /// Reads `/proc/self/status` (proc(5)): a name, a colon, white space and a value on each line.
    ///
    /// - Throws: ``ObservationError`` when one of the two is missing or no number: a file that was tampered with is no
    ///   sign that no tracer is there.
    init(parsing bytes: [UInt8]) throws(ObservationError) {
        var tracer: Int32?
        var threads: Int?
        // Before each connection: the lines are searched in place, and only the needed ones are parsed.
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: 0x0A) ?? bytes.count
            let line = bytes[start..<end]
            if Self.begins(line, with: "TracerPid:") { tracer = Self.number(line).flatMap(Int32.init(exactly:)) }
            if Self.begins(line, with: "Threads:") { threads = Self.number(line) }
            start = end + 1
        }
        guard let tracer, let threads else { throw ObservationError(.malformed, "status") }
        self.init(tracer: tracer, threads: threads)
    }

    private static func begins(_ line: ArraySlice<UInt8>, with name: StaticString) -> Bool {
        name.withUTF8Buffer { name in line.count >= name.count && line.starts(with: name) }
    }

    private static func number(_ line: ArraySlice<UInt8>) -> Int? {
        guard let colon = line.firstIndex(of: 0x3A) else { return nil }
        return Int(String(decoding: line[(colon + 1)...].filter { $0 != 0x09 && $0 != 0x20 }, as: UTF8.self))
    }
}

/// A variable of the environment.
public struct EnvironmentVariable: Hashable, Sendable {
    /// The name: the text before the first `=`.
    public let name: String

    /// The value: the text after it.
    public let value: String

    /// Creates a value.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// The variables of a block: entries that end with a zero each, as in `/proc/self/environ`.
    static func parse(_ bytes: [UInt8]) -> [Self] {
        bytes.split(separator: 0).compactMap { entry in
            guard let equals = entry.firstIndex(of: 0x3D) else { return nil }
            return Self(
                name: String(decoding: entry[..<equals], as: UTF8.self),
                value: String(decoding: entry[(equals + 1)...], as: UTF8.self))
        }
    }
}
