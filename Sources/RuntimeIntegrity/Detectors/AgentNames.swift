// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The names of the traces of known tools.
///
/// They find careless attackers only: a rebuilt tool has other names, and Frida 17 and 16 do not name their threads.
/// The detectors of mappings and pages look for traces that cannot be avoided.
public enum AgentNames {
    /// The words that a name begins as, and that honest programs are called by.
    private static let honest = ["friday"]

    /// Parts of the names of libraries, in lower case.
    public static let libraries = NameParts(
        [
            "frida", "gum-js", "gumjs", "cydiasubstrate", "mobilesubstrate", "substrateloader", "substitute", "ellekit",
            "libhooker", "tweakinject", "cycript", "cynject", "sslkillswitch", "libdobby", "libxposed", "snowboard",
        ], but: Self.honest)

    /// Parts of the names of threads. Programs of GNOME's libraries have threads called `gmain`, `gdbus` and
    /// `pool-spawner`, too.
    public static let threads = NameParts(["gum-js", "frida", "linjector"], but: Self.honest)

    /// Parts of the targets of descriptors.
    public static let descriptors = NameParts(["frida", "linjector"], but: Self.honest)

    /// Names of programs that start others to debug or trace them.
    public static let parents = [
        "gdb", "gdbserver", "lldb", "lldb-server", "debugserver", "strace", "ltrace", "rr", "frida", "frida-server",
        "frida-trace", "frida-inject", "radare2", "r2",
    ]

    /// The ports that Frida's server or portal (27042) and a portal's cluster (27052) listen on.
    public static let ports: [UInt16] = [27_042, 27_052]
}

/// Parts of names, compared without regard to case.
///
/// The names of all libraries are searched before each connection, so the search allocates nothing.
public struct NameParts: Hashable, Sendable {
    private let parts: [[UInt8]]
    /// Words that begin as a part does, and are none.
    private let others: [[UInt8]]
    /// Whether a part begins with a byte, in lower case: few places in a text are the beginning of one.
    private let beginnings: [Bool]

    /// Creates a value.
    ///
    /// - Parameter parts: In lower case; an empty one is part of nothing.
    public init(_ parts: [String]) { self.init(parts, but: []) }

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - parts: In lower case; an empty one is part of nothing.
    ///   - others: Longer words, in lower case, that begin as a part does, and are none.
    init(_ parts: [String], but others: [String]) {
        self.parts = parts.map { Array($0.utf8) }.filter { !$0.isEmpty }
        self.others = others.map { Array($0.utf8) }
        var beginnings = [Bool](repeating: false, count: 256)
        for part in self.parts { beginnings[Int(part[0])] = true }
        self.beginnings = beginnings
    }

    /// Whether one of them is part of a text.
    public func isPart(of text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            bytes.indices.contains { start in
                self.beginnings[Int(Self.lower(bytes[start]))]
                    && self.parts.contains { Self.stands($0, at: start, in: bytes) }
                    && !self.others.contains { Self.stands($0, at: start, in: bytes) }
            }
        }
    }

    /// Whether a word stands at a place of a text.
    @inline(__always)
    private static func stands(_ word: [UInt8], at start: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard word.count <= bytes.count - start else { return false }
        return word.indices.allSatisfy { self.lower(bytes[start + $0]) == word[$0] }
    }

    /// A letter of ASCII in lower case.
    @inline(__always)
    private static func lower(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
}
