// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Names that known tools give what they leave behind.
///
/// They find careless attackers only: a tool that is built anew has other names, and Frida 17 and 16 give their threads
/// none. What they cannot avoid is looked for by the detectors of mappings and pages.
public enum AgentNames {
    /// Parts of the names of libraries, in lower case.
    public static let libraries = NameParts([
        "frida", "gum-js", "gumjs", "cydiasubstrate", "mobilesubstrate", "substrateloader", "substitute", "ellekit",
        "libhooker", "tweakinject", "cycript", "cynject", "sslkillswitch", "libdobby", "xposed", "snowboard",
    ])

    /// Parts of the names of threads. Programs of GNOME's libraries have threads called `gmain` and `gdbus`, too.
    public static let threads = NameParts(["gum-js", "frida", "linjector", "pool-spawner"])

    /// Parts of what descriptors lead to.
    public static let descriptors = NameParts(["frida", "linjector"])

    /// Names of programs that start others in order to look into them.
    public static let parents = [
        "gdb", "gdbserver", "lldb", "lldb-server", "debugserver", "strace", "ltrace", "rr", "frida", "frida-server",
        "frida-trace", "frida-inject", "radare2", "r2",
    ]

    /// The ports that Frida's server or portal (27042) and a portal's cluster (27052) listen on.
    public static let ports: [UInt16] = [27_042, 27_052]
}
