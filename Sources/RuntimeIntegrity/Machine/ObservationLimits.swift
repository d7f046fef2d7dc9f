// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The most of each thing that is read.
public enum ObservationLimits {
    /// The most bytes of the list of mappings: half of the mebibyte that this module may hold at any time. A line
    /// has about 100 bytes; programs that were looked at (C, Swift, Python, OpenJDK) have 25 to 700.
    public static let mapsBytes = 524_288
    /// The most bytes of the status: it has about 1,500.
    public static let statusBytes = 16_384
    /// The most bytes of the environment: the kernel's limit of one string (`MAX_ARG_STRLEN`).
    public static let environmentBytes = 131_072
    /// The most threads whose names are read.
    public static let threads = 512
    /// The most descriptors that are looked at: the usual limit of a process.
    public static let descriptors = 1_024
    /// The most bytes of memory that are read at once: a piece of a comparison.
    public static let memoryBytes = 65_536
    /// The most pages of code whose state is looked at: 256 MiB of code at 4 KiB a page.
    public static let codePages = 65_536
    /// The most places of memory that are read at once.
    public static let places = 64
    /// The most bytes of an answer on a port: the head of an HTTP answer.
    public static let answerBytes = 1_024
    /// The most milliseconds for an answer on a port of this machine.
    public static let answerMilliseconds = 25
    /// The most bytes of a path: Linux's `PATH_MAX`.
    public static let pathBytes = 4_096
}
