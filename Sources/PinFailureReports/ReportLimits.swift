// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The limits of reports, of their queue and of its waits (formats.md, section 5; decision 0014).
public enum ReportLimits {
    /// The maximum number of waiting reports, but for firsts of their kind (formats.md, section 5).
    public static let waiting = 64
    /// The maximum number of waiting reports in all (formats.md, section 5). Firsts are bounded by the list's entries
    /// and the reasons; beyond this number reports are dropped and counted.
    public static let waitingWithFirsts = 1_024
    /// The maximum size of all waiting bodies in bytes (formats.md, section 5). One envelope in base64 is below 6 MiB.
    public static let waitingBytes = 16_777_216
    /// The maximum number of reports in a day, but for firsts (decision 0014): a server with another certificate each
    /// time cannot choose how much is sent.
    public static let perDay = 256
    /// The maximum number of reports that wait or went out within a day, firsts included: it bounds the stored queue.
    public static let known = 1_280
    /// The time in which an identical report is not sent again, in seconds: a day (formats.md, section 5).
    public static let silence: Int64 = 86_400
    /// The maximum wait of a report before it is first sent, in seconds (formats.md, section 5). The wait is random, so
    /// that installations that fail in one moment do not report in one.
    public static let firstWait: Int64 = 60
    /// The maximum age of a report that is not a first of its kind, in seconds: a day (formats.md, section 5).
    public static let oldest: Int64 = 86_400
    /// The maximum number of addresses of one report (formats.md, section 5).
    public static let addresses = 8
    /// The maximum number of certificates of a chain in a report (formats.md, section 5).
    public static let certificates = 10
    /// The maximum size of a chain's DER in a report, in bytes (formats.md, section 5); the chains of the public web
    /// are below 20,000.
    public static let chainBytes = 65_536
    /// The maximum number of signals in a report (formats.md, section 5).
    public static let signals = 32
    /// The maximum length of a text from outside, in Unicode scalars (formats.md, section 5).
    public static let textLength = 256
    /// The maximum size of a stored queue in bytes: the escaped bodies and the members around them.
    public static let stateBytes = 50_331_648
    /// The maximum time of an attempt, in seconds: that of a whole request. An attempt holds its address for as long, so that
    /// another process with the same queue does not begin what this one sends.
    package static let attempt: Int64 = 15
    /// The first window of the backoff, in seconds: two minutes.
    public static let firstWindow: Int64 = 120
    /// The maximum window of the backoff, in seconds: four hours.
    public static let lastWindow: Int64 = 14_400
    /// The maximum wait that a server can ask for with `Retry-After`, in seconds: a day (formats.md, section 7).
    public static let maximumWait: Int64 = 86_400
}
