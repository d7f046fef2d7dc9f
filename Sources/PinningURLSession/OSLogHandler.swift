// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(os) && canImport(Security)
public import Logging
internal import os

/// A handler of swift-log that writes to the system's log.
///
/// Tumbler's messages name hosts, pins and versions, and no personal data. They are marked public, so that a log from
/// the field can be read.
public struct OSLogHandler: LogHandler {
    /// The minimum level that is written.
    public var logLevel: Logging.Logger.Level = .info
    /// The metadata that is written with each message.
    public var metadata: Logging.Logger.Metadata = [:]
    private let logger: os.Logger

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - subsystem: The app, in reverse DNS.
    ///   - category: The category of the messages.
    public init(subsystem: String, category: String) {
        self.logger = os.Logger(subsystem: subsystem, category: category)
    }

    /// One value that is written with each message.
    public subscript(metadataKey key: String) -> Logging.Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    /// Writes a message.
    public func log(event: LogEvent) {
        let metadata = self.metadata.merging(event.metadata ?? [:]) { _, new in new }
        let values = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        self.logger.log(level: event.level.type, "\(event.message.description + values, privacy: .public)")
    }
}

extension Logging.Logger.Level {
    /// The system's level.
    fileprivate var type: OSLogType {
        switch self {
        case .trace, .debug: .debug
        case .info: .info
        case .notice, .warning: .default
        case .error: .error
        case .critical: .fault
        }
    }
}
#endif
