// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

// swift-format-ignore-file
// Stands for swift-log: as much of it as the project uses, with bodies that are never run.
public struct LogEvent: Sendable {
    public var level: Logger.Level
    public var message: Logger.Message
    public var metadata: Logger.Metadata?
}
public protocol LogHandler: Sendable {
    var logLevel: Logger.Level { get set }
    var metadata: Logger.Metadata { get set }
    subscript(metadataKey key: String) -> Logger.Metadata.Value? { get set }
    func log(event: LogEvent)
}
public struct Logger: Sendable {
    public enum Level: String, Sendable, CaseIterable { case trace, debug, info, notice, warning, error, critical }
    public struct Message: Sendable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation, CustomStringConvertible {
        public init(stringLiteral value: String) {}
        public var description: String { "" }
    }
    public enum MetadataValue: Sendable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation, CustomStringConvertible {
        case string(String)
        public init(stringLiteral value: String) { self = .string(value) }
        public var description: String { "" }
    }
    public typealias Metadata = [String: MetadataValue]
    public init(label: String) {}
    public init(label: String, _ factory: (String) -> any LogHandler) {}
    public var logLevel: Level { get { .info } set {} }
    public func log(level: Level, _ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil) {}
    public func debug(_ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil) {}
    public func info(_ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil) {}
    public func notice(_ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil) {}
    public func warning(_ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil) {}
    public func error(_ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil) {}
    public func critical(_ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil) {}
}
