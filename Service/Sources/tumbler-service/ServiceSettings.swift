// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AppAttestation
import CommandLineInterface
import Configuration
import Foundation
import PinListRepository
import PinListServer
import PinReportAnalysis

/// The service's configuration in its layers: file, environment, flags; the later wins (formats.md, section 10).
struct ServiceSettings {
    /// One layer.
    private struct Layer {
        let name: String
        let reader: ConfigReader
    }

    /// A setting as it came out.
    struct Shown: Hashable {
        let name: String
        let value: String
        let origin: String
    }

    /// The configuration, without what stands in files of its own: ``roots()`` and ``alerts(unreadable:)`` read these,
    /// for the command that needs them.
    private(set) var configuration = ServiceConfiguration()
    /// Each setting with where it comes from, for `--print-config`.
    private(set) var shown: [Shown] = []

    private let layers: [Layer]
    private let rootFiles: [String: String]
    private let alertEntries: [AlertEntry]

    /// Reads all layers, and no file that they name.
    ///
    /// - Parameters:
    ///   - flags: The settings of the command line, by the names of the file.
    ///   - environment: The environment: `TUMBLER_LISTEN` is `listen`, `TUMBLER_TLS_KEY` is `tls.key`.
    ///   - file: The path of the file, if there is one.
    /// - Throws: ``CommandError`` or `RepositoryError` with what is wrong, and where.
    init(flags: [String: String], environment: [String: String], file: String?) throws {
        let read = try file.map { try ServiceFile(path: $0) }
        func values(_ texts: [String: String]) -> [AbsoluteConfigKey: ConfigValue] {
            Dictionary(
                uniqueKeysWithValues: texts.map { name, text in
                    (
                        AbsoluteConfigKey(name.split(separator: ".").map(String.init)),
                        ConfigValue(.string(text), isSecret: false)
                    )
                })
        }
        self.layers = [
            Layer(name: "flag", reader: ConfigReader(provider: InMemoryProvider(values: values(flags)))),
            Layer(
                name: "environment",
                reader: ConfigReader(
                    provider: EnvironmentVariablesProvider(environmentVariables: environment)
                        .prefixKeys(with: "tumbler"))),
            Layer(
                name: read?.path ?? "file",
                reader: ConfigReader(provider: InMemoryProvider(values: values(read?.settings ?? [:])))),
        ]
        self.rootFiles = try read?.roots() ?? [:]
        self.alertEntries = try read?.alerts() ?? []
        try self.readAddresses()
        try self.readConnections()
        try self.readStore()
        try self.readNetworks()
        try self.readReportLimits()
        for name in self.rootFiles.keys.sorted() {
            self.shown.append(Shown(name: "names", value: name, origin: read?.path ?? "file"))
        }
        self.configuration.attestation = try read?.attestations() ?? [:]
        for (name, asked) in self.configuration.attestation.sorted(by: { $0.key < $1.key }) {
            let value = "\(asked.appIDs.joined(separator: ", ")) (\(asked.environment.rawValue))"
            self.shown.append(Shown(name: "names.\(name).attestation", value: value, origin: read?.path ?? "file"))
        }
        for entry in self.alertEntries {
            self.shown.append(
                Shown(name: "alerts", value: "\(entry.kind.rawValue) \(entry.name)", origin: read?.path ?? "file"))
        }
    }

    /// The names that may be published.
    var names: Set<String> { Set(self.rootFiles.keys) }

    /// The roots that apps ship, by name: their files are read now.
    ///
    /// - Throws: ``CommandError`` for a file that cannot be read.
    func roots() throws -> [String: [UInt8]] { try self.rootFiles.mapValues { try InputFile.read($0) } }

    /// The targets of alarms: the files of the secrets are read now.
    ///
    /// - Parameter unreadable: The closure that gets each secret that cannot be read, whose target is left out then.
    ///   Without it that is an error.
    /// - Throws: ``CommandError`` for a secret that cannot be read, `RepositoryError` for an address that is none.
    func alerts(unreadable: ((CommandError) -> Void)? = nil) throws -> [AlertTarget] {
        try self.alertEntries.compactMap { entry in
            do { return try entry.target() } catch let failure as CommandError {
                guard let unreadable else { throw failure }
                unreadable(failure)
                return nil
            }
        }
    }

    private mutating func readAddresses() throws {
        self.configuration.listen = try self.read("listen", default: "127.0.0.1:8480", Self.address)
        self.configuration.adminListen = try self.read("adminListen", default: "none") {
            $0 == "none" ? nil : try Self.address($0)
        }
        let certificate = try self.read("tls.certificate", default: "none") { $0 == "none" ? nil : $0 }
        let key = try self.read("tls.key", default: "none") { $0 == "none" ? nil : $0 }
        guard (certificate == nil) == (key == nil) else {
            throw CommandError(.usage, "tls has one of certificate and key", hint: "name both, or none")
        }
        if let certificate, let key { self.configuration.tls = .init(certificate: certificate, key: key) }
    }

    /// The maximum number of connections that may be configured, which is the most descriptors that Linux gives a
    /// process unless it is told otherwise (`fs.nr_open`).
    static let maximumConnections: Int64 = 1_048_576

    private mutating func readConnections() throws {
        self.configuration.maximumConnections = try self.read("maximumConnections", default: "none") {
            $0 == "none" ? nil : Int(try Self.number($0, in: 16...Self.maximumConnections))
        }
    }

    private mutating func readStore() throws {
        self.configuration.dataDirectory = try self.read("dataDir", default: "./tumbler-data") { $0 }
        self.configuration.database = try self.read("database", default: "sqlite") { $0 }
        self.configuration.retention.days = try self.read("retention.days", default: "90") {
            try Self.number($0, in: 1...36_500)
        }
        self.configuration.retention.megabytes = try self.read("retention.megabytes", default: "2048") {
            try Self.number($0, in: 16...10_000_000)
        }
        self.configuration.retention.auditDays = try self.read("retention.auditDays", default: "400") {
            try Self.number($0, in: ServiceConfiguration.Retention.minimumAuditDays...36_500)
        }
    }

    /// The members of `reports`: how many of them one source, and all of them, may send at once and in a minute.
    static let reportLimits = ["sourceBurst", "sourcePerMinute", "totalBurst", "totalPerMinute"]

    private mutating func readReportLimits() throws {
        let range: ClosedRange<Int64> = 1...1_000_000
        func limit(_ text: String) throws -> Int { Int(try Self.number(text, in: range)) }
        var limits = self.configuration.reportLimits
        limits.sourceBurst = try self.read("reports.sourceBurst", default: "\(limits.sourceBurst)", limit)
        limits.sourcePerMinute = try self.read("reports.sourcePerMinute", default: "\(limits.sourcePerMinute)", limit)
        limits.totalBurst = try self.read("reports.totalBurst", default: "\(limits.totalBurst)", limit)
        limits.totalPerMinute = try self.read("reports.totalPerMinute", default: "\(limits.totalPerMinute)", limit)
        self.configuration.reportLimits = limits
    }

    private mutating func readNetworks() throws {
        self.configuration.trustedProxies = try self.read("trustedProxies", default: "", Self.networks)
        self.configuration.edges = try self.read("edges", default: "", Self.networks)
        self.configuration.openOnLoopback = try self.read("openOnLoopback", default: "false", Self.flag)
        guard
            !self.configuration.openOnLoopback
                || (self.configuration.trustedProxies.isEmpty && self.configuration.edges.isEmpty)
        else {
            throw CommandError(
                .usage, "openOnLoopback stands beside trustedProxies or edges",
                hint: "leave it out: behind a proxy every request comes from this machine; tumbler login-link logs in")
        }
    }

    /// Reads one setting from the first layer that has it.
    private mutating func read<Value>(
        _ name: String, default standard: String, _ parse: (String) throws -> Value
    ) throws -> Value {
        let key = ConfigKey(name.split(separator: ".").map(String.init))
        let found = self.layers.lazy.compactMap { layer in layer.reader.string(forKey: key).map { ($0, layer.name) } }
            .first
        let (text, origin) = found ?? (standard, "default")
        self.shown.append(Shown(name: name, value: Self.withoutSecret(text), origin: origin))
        do { return try parse(text) } catch let defect as SettingError {
            throw CommandError(.usage, "\(name) (\(origin)): \(defect.reason)", hint: defect.hint)
        }
    }

    /// An address of a database without its password, which has no business there: the store refuses it.
    private static func withoutSecret(_ text: String) -> String {
        guard let scheme = text.range(of: "://") else { return text }
        let rest = text[scheme.upperBound...]
        let user = rest.lastIndex(of: "@").map { rest[..<$0] } ?? ""
        return user.contains(":") || rest.contains("password") ? text[..<scheme.upperBound] + "…" : text
    }

    /// The defect of a value.
    private struct SettingError: Error {
        let reason: String
        let hint: String
    }

    private static func address(_ text: String) throws -> ListenAddress {
        guard let address = ListenAddress(text) else {
            throw SettingError(
                reason: "\(text) is not an address to listen on", hint: "write HOST:PORT, as 127.0.0.1:8480")
        }
        return address
    }

    private static func flag(_ text: String) throws -> Bool {
        guard let flag = ["true": true, "false": false][text] else {
            throw SettingError(reason: "\(text) is neither true nor false", hint: "write true or false")
        }
        return flag
    }

    private static func number(_ text: String, in range: ClosedRange<Int64>) throws -> Int64 {
        guard let number = Int64(text), range.contains(number) else {
            throw SettingError(
                reason: "\(text) is not a number from \(range.lowerBound) to \(range.upperBound)",
                hint: "write it in decimal digits alone")
        }
        return number
    }

    private static func networks(_ text: String) throws -> [NetworkRange] {
        try text.split(separator: ",").map { part in
            let part = part.filter { $0 != " " }
            guard let range = NetworkRange(part) else {
                throw SettingError(
                    reason: "\(part) is neither an address nor a network", hint: "write 10.0.0.0/8 or 192.0.2.1")
            }
            return range
        }
    }
}
