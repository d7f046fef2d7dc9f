// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Writes lines to the system's log (iOS 14). `Sendable` on Apple's platforms.
public struct Logger: Sendable {
    let subsystem: String
    let category: String

    /// A logger of a part of an app.
    public init(subsystem: String, category: String) {
        self.subsystem = subsystem
        self.category = category
    }

    /// A logger without a subsystem.
    public init() { self.init(subsystem: "", category: "") }

    /// Logs at the default level.
    public func log(_ message: OSLogMessage) { self.log(level: .default, message) }

    /// Logs at a level.
    public func log(level: OSLogType, _ message: OSLogMessage) {
        SimulatedLog.add(
            SimulatedLog.Entry(
                subsystem: self.subsystem, category: self.category, level: level, text: message.shown,
                isPublic: !message.hidesSomething))
    }

    /// Logs at the level `debug`.
    public func trace(_ message: OSLogMessage) { self.log(level: .debug, message) }

    /// Logs at the level `debug`.
    public func debug(_ message: OSLogMessage) { self.log(level: .debug, message) }

    /// Logs at the level `info`.
    public func info(_ message: OSLogMessage) { self.log(level: .info, message) }

    /// Logs at the default level.
    public func notice(_ message: OSLogMessage) { self.log(level: .default, message) }

    /// Logs at the level `error`.
    public func warning(_ message: OSLogMessage) { self.log(level: .error, message) }

    /// Logs at the level `error`.
    public func error(_ message: OSLogMessage) { self.log(level: .error, message) }

    /// Logs at the level `fault`.
    public func critical(_ message: OSLogMessage) { self.log(level: .fault, message) }

    /// Logs at the level `fault`.
    public func fault(_ message: OSLogMessage) { self.log(level: .fault, message) }
}

/// The level of a line.
public struct OSLogType: RawRepresentable, Hashable, Sendable {
    /// The number of the level.
    public let rawValue: UInt8

    /// A level by its number.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Kept in memory, and only on request.
    public static let debug = OSLogType(rawValue: 2)
    /// Kept in memory.
    public static let info = OSLogType(rawValue: 1)
    /// Kept on the disk.
    public static let `default` = OSLogType(rawValue: 0)
    /// An error of the process.
    public static let error = OSLogType(rawValue: 16)
    /// A mistake of the programmer, or an error of several processes.
    public static let fault = OSLogType(rawValue: 17)
}
