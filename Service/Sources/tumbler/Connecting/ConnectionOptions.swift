// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import Foundation
import NIOConcurrencyHelpers
import PinListRepository

/// Options of connections: the same, with curl's names, on every command that connects.
struct ConnectionOptions: ParsableArguments {
    @Option(
        name: [.customLong("cacert"), .customLong("ca-file")],
        help: ArgumentHelp("The anchors of connections in PEM, in place of the system's.", valueName: "file|system"),
        completion: .file())
    var anchors: String?

    @Option(
        name: .customLong("connect-to"),
        help: ArgumentHelp(
            "Ask HOST:PORT at another place; may be given several times.", valueName: "host:port:host2:port2"),
        transform: ConnectTo.init)
    var places: [ConnectTo] = []

    @Option(
        help: ArgumentHelp(
            "Go through this proxy, in place of HTTPS_PROXY; NO_PROXY names the hosts that are asked directly.",
            valueName: "http://host:port"))
    var proxy: String?

    @Flag(name: [.customShort("4"), .long], help: "Connect over IPv4 alone.")
    var ipv4 = false

    @Flag(name: [.customShort("6"), .long], help: "Connect over IPv6 alone.")
    var ipv6 = false

    @Option(
        name: .customLong("connect-timeout"),
        help: ArgumentHelp("The longest wait for a connection; 10 s unless given.", valueName: "seconds"),
        transform: Self.duration)
    var connectTimeout: Duration?

    @Option(
        name: .customLong("max-time"),
        help: ArgumentHelp("The longest that a request may take with its answer.", valueName: "seconds"),
        transform: Self.duration)
    var totalTimeout: Duration?

    func validate() throws {
        if self.ipv4, self.ipv6 { throw ValidationError("--ipv4 and --ipv6 exclude each other") }
        do throws(ProxyRules.ProxyError) { _ = try self.proxies } catch {
            throw ValidationError("--proxy: \(error.reason)")
        }
    }

    /// The connections that the options describe. A proxy that is configured and cannot be used is said.
    var connections: Connections {
        var connections = Connections()
        connections.anchors = self.anchors
        connections.places = self.places
        connections.proxies = (try? self.proxies) ?? .none
        connections.family = self.ipv4 ? .ipv4 : self.ipv6 ? .ipv6 : nil
        if let connectTimeout { connections.connectTimeout = connectTimeout }
        if let totalTimeout {
            connections.totalTimeout = totalTimeout
            connections.connectTimeout = min(connections.connectTimeout, totalTimeout)
        }
        Self.say(connections.proxies.unused)
        return connections
    }

    private static let said = NIOLockedValueBox<Set<String>>([])

    /// Says each once, however many connections are made.
    private static func say(_ lines: [String]) {
        for line in lines where self.said.withLockedValue({ $0.insert(line).inserted }) { StandardError.warning(line) }
    }

    private var proxies: ProxyRules {
        get throws(ProxyRules.ProxyError) {
            try ProxyRules(option: self.proxy, environment: ProcessInfo.processInfo.environment)
        }
    }

    /// A number of seconds, as curl takes it, or a duration with its unit.
    private static func duration(_ text: String) throws -> Duration {
        let seconds = Double(text) ?? SourceDuration.seconds(of: text).map(Double.init)
        guard let seconds, seconds >= 0.001, seconds <= 86_400 else {
            throw ValidationError("\(text) is not a time: write seconds, from 0.001 to 86400")
        }
        return .milliseconds(Int64(exactly: (seconds * 1_000).rounded()) ?? 1)
    }
}
