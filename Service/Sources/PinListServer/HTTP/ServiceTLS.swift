// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCertificateReloading
internal import NIOCore
internal import NIOSSL

/// The service's own TLS, with certificates that are read again when they have changed.
struct ServiceTLS {
    /// The interval of checks of the files.
    static let interval: Duration = .seconds(30)
    /// From our end of a connection to the other side's. A client that is gone holds no place longer.
    static let shutdownTimeout: TimeAmount = .seconds(2)

    /// The reloader, which checks the files.
    let reloader: TimedCertificateReloader
    /// For the listeners.
    let configuration: TLSConfiguration

    /// Reads the files.
    ///
    /// - Parameters:
    ///   - files: The paths of the files.
    ///   - interval: The interval of checks.
    ///   - logger: The logger for errors of new ones.
    /// - Throws: What is wrong with them, when nothing can be served.
    init(
        _ files: ServiceConfiguration.Certificates, every interval: Duration = Self.interval, logger: Logger
    ) throws {
        self.reloader = try TimedCertificateReloader.makeReloaderValidatingSources(
            refreshInterval: interval,
            certificateSource: .init(location: .file(path: files.certificate), format: .pem),
            privateKeySource: .init(location: .file(path: files.key), format: .pem),
            logger: logger)
        var configuration = try TLSConfiguration.makeServerConfiguration(certificateReloader: self.reloader)
        configuration.shutdownTimeout = Self.shutdownTimeout
        configuration.minimumTLSVersion = .tlsv12
        // HTTP/2 is for what stands in front of the service.
        configuration.applicationProtocols = ["http/1.1"]
        self.configuration = configuration
    }
}
