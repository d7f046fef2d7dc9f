// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The most of each thing that is reported, kept or waited for.
public enum ReportLimits {
    /// The most reports that wait, but for firsts of their kind (formats.md, section 5).
    public static let waiting = 64
    /// The most reports that wait in all. What counts as a first is bounded by the list's entries and the reasons; an
    /// app that fails on more hosts than this at once is told so by the count of what was dropped.
    public static let waitingWithFirsts = 1_024
    /// The most bytes of all bodies that wait. One envelope in base64 is below 6 MiB.
    public static let waitingBytes = 16_777_216
    /// The most reports in a day, but for firsts: who presents another certificate each time does not choose how much
    /// is sent.
    public static let perDay = 256
    /// The most reports that wait or went out within a day, firsts included: what is stored does not grow beyond it.
    public static let known = 1_280
    /// How long an identical report is not sent again, in seconds: a day.
    public static let silence: Int64 = 86_400
    /// The longest wait of a report before it is sent for the first time, in seconds: a part of it that is drawn keeps
    /// installations that fail in one moment from reporting in one.
    public static let firstWait: Int64 = 60
    /// How old a report may become that is no first of its kind, in seconds: a day.
    public static let oldest: Int64 = 86_400
    /// The most addresses that one report goes to.
    public static let addresses = 8
    /// The most certificates of a chain in a report.
    public static let certificates = 10
    /// The most bytes of DER of a chain in a report; the chains of the public web are below 20,000.
    public static let chainBytes = 65_536
    /// The most signals in a report.
    public static let signals = 32
    /// The most Unicode scalars of a text that is not ours.
    public static let textLength = 256
    /// The most bytes of a stored queue that are read: the bodies, escaped, and what stands around them.
    public static let stateBytes = 50_331_648
    /// The shortest window of the backoff, in seconds: two minutes.
    public static let firstWindow: Int64 = 120
    /// The longest, in seconds: four hours.
    public static let lastWindow: Int64 = 14_400
    /// The longest wait that a server can ask for with `Retry-After`, in seconds: a day.
    public static let maximumWait: Int64 = 86_400
}
