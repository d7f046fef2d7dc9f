// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AppAttestation
import CommandLineInterface
import Foundation
import PinListRepository
import PinListServer

/// The service's configuration as a file: YAML, in which an unknown member is an error.
struct ServiceFile {
    /// Its path.
    let path: String
    /// The settings that are one value each, by their names; `tls.key` for what is inside something.
    private(set) var settings: [String: String] = [:]

    private let root: SourceObject

    /// The maximum number of names, and of targets of alerts.
    private static let maximum = 1_000

    /// Reads a file.
    ///
    /// - Throws: ``CommandError`` for a file that cannot be read, `RepositoryError` with the place of what is wrong.
    init(path: String) throws {
        self.path = path
        let value = try YAMLReader.read(try InputFile.read(path), file: path)
        self.root = try SourceObject(
            value, "the configuration",
            known: [
                "listen", "adminListen", "maximumConnections", "dataDir", "database", "tls", "trustedProxies", "edges",
                "openOnLoopback", "retention", "reports", "names", "alerts",
            ])
        for name in ["listen", "adminListen", "maximumConnections", "database", "openOnLoopback"] {
            self.settings[name] = try self.root.scalar(name)?.text
        }
        self.settings["dataDir"] = try self.root.scalar("dataDir").map { self.resolved($0.text) }
        for name in ["trustedProxies", "edges"] {
            let networks = try self.root.texts(name, maximum: Self.maximum).map(\.value)
            if !networks.isEmpty { self.settings[name] = networks.joined(separator: ",") }
        }
        for (name, members) in [
            ("tls", ["certificate", "key"]), ("retention", ["days", "megabytes", "auditDays"]),
            ("reports", ServiceSettings.reportLimits),
        ] {
            guard let value = self.root.value(name) else { continue }
            let object = try SourceObject(value, name, known: members)
            for member in members {
                self.settings["\(name).\(member)"] = try object.scalar(member).map {
                    name == "tls" && $0.text != "none" ? self.resolved($0.text) : $0.text
                }
            }
        }
    }

    /// The files of the roots of the names. None of them is read.
    func roots() throws -> [String: String] {
        guard let value = self.root.value("names") else { return [:] }
        guard case .mapping(let members) = value.content else {
            throw value.position.error("names is \(value.kind)", hint: "write NAME: {root: PATH}")
        }
        var roots: [String: String] = [:]
        for member in members {
            let object = try SourceObject(member.value, "a name", known: ["root", "attestation"])
            guard let path = try object.text("root") else { throw object.missing("root", "root: PATH") }
            roots[member.name] = self.resolved(path.value)
        }
        return roots
    }

    /// The attestation that the names ask of senders of reports, for those that ask for any.
    func attestations() throws -> [String: NameAttestation] {
        guard case .mapping(let members)? = self.root.value("names")?.content else { return [:] }
        var attestations: [String: NameAttestation] = [:]
        for member in members {
            let name = try SourceObject(member.value, "a name", known: ["root", "attestation"])
            guard let value = name.value("attestation") else { continue }
            attestations[member.name] = try Self.attestation(value)
        }
        return attestations
    }

    private static func attestation(_ value: YAMLValue) throws -> NameAttestation {
        let object = try SourceObject(value, "attestation", known: ["appIds", "environment", "receipts"])
        let appIDs = try object.texts("appIds", maximum: NameAttestation.maximumAppIDs)
        guard !appIDs.isEmpty else { throw object.missing("appIds", "appIds: [TEAMID.com.example.app]") }
        for appID in appIDs where !Self.isAppID(appID.value) {
            throw appID.position.error(
                "\(appID.value) is not an app id", hint: "write TEAMID.com.example.app, with the team's id first")
        }
        var attestation = NameAttestation(appIDs: appIDs.map(\.value))
        if let environment = try object.text("environment") {
            guard let known = AttestationEnvironment(rawValue: environment.value) else {
                let names = AttestationEnvironment.allCases.map(\.rawValue).joined(separator: " or ")
                throw environment.position.error("environment is neither \(names)")
            }
            attestation.environment = known
        }
        if let receipts = try object.scalar("receipts") {
            guard let keeps = ["true": true, "false": false][receipts.text] else {
                throw value.position.error("receipts is neither true nor false")
            }
            attestation.keepsReceipts = keeps
        }
        return attestation
    }

    /// Ten letters and digits, a dot, and a bundle's identifier (Apple's `application-identifier`).
    private static func isAppID(_ text: String) -> Bool {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 && parts[0].utf8.count == 10 && text.utf8.count <= 255 && !parts[1].isEmpty
            && parts[0].utf8.allSatisfy { (48...57).contains($0) || (65...90).contains($0) }
    }

    /// The targets of alarms. Addresses and keys are secrets, and stand in files of their own, which are not read here.
    func alerts() throws -> [AlertEntry] {
        var names: Set<String> = []
        return try self.root.list("alerts", maximum: Self.maximum).enumerated().map { index, value in
            let object = try SourceObject(value, "an alert", known: ["type", "name", "urlFile", "keyFile"])
            guard let type = try object.text("type") else { throw object.missing("type", "type: slack") }
            guard let kind = AlertTarget.Kind(rawValue: type.value) else {
                let known = AlertTarget.Kind.allCases.map(\.rawValue).joined(separator: ", ")
                throw type.position.error("type must be one of \(known)")
            }
            let name = try object.text("name")?.value ?? "\(kind.rawValue)-\(index + 1)"
            let (addressFile, keyFile) = (try object.text("urlFile"), try object.text("keyFile"))
            guard addressFile != nil || kind == .pagerduty else { throw object.missing("urlFile", "urlFile: PATH") }
            guard names.insert(name).inserted else {
                throw type.position.error("two alerts are called \(name)", hint: "give each a name of its own")
            }
            guard kind != .pagerduty || keyFile != nil else { throw object.missing("keyFile", "keyFile: PATH") }
            return AlertEntry(
                kind: kind, name: name, addressFile: addressFile.map { self.resolved($0.value) },
                keyFile: keyFile.map { self.resolved($0.value) }, position: type.position)
        }
    }

    /// A path of the file is one beside the file.
    private func resolved(_ path: String) -> String {
        URL(fileURLWithPath: path, relativeTo: URL(fileURLWithPath: self.path).deletingLastPathComponent()).path
    }
}
