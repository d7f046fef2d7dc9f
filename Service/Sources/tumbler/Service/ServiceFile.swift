// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinListRepository
import PinListServer

/// The service's configuration as a file: YAML, in which a member that nobody knows is an error.
struct ServiceFile {
    /// Its path.
    let path: String
    /// The settings that are one value each, by their names; `tls.key` for what is inside something.
    private(set) var settings: [String: String] = [:]

    private let root: SourceObject

    /// The most names and the most targets of alerts.
    private static let most = 1_000

    /// Reads a file.
    ///
    /// - Throws: ``CommandFailure`` for a file that cannot be read, `RepositoryError` with the place of what is wrong.
    init(path: String) throws {
        self.path = path
        let value = try YAMLReader.read(try InputFile.read(path), file: path)
        self.root = try SourceObject(
            value, "the configuration",
            known: [
                "listen", "adminListen", "dataDir", "database", "tls", "trustedProxies", "edges", "retention",
                "reports",
                "names",
                "alerts",
            ])
        for name in ["listen", "adminListen", "database"] {
            self.settings[name] = try self.root.scalar(name)?.text
        }
        self.settings["dataDir"] = try self.root.scalar("dataDir").map { self.resolved($0.text) }
        for name in ["trustedProxies", "edges"] {
            let networks = try self.root.texts(name, most: Self.most).map(\.value)
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

    /// The roots of the names.
    func roots() throws -> [String: [UInt8]] {
        guard let value = self.root.value("names") else { return [:] }
        guard case .mapping(let members) = value.content else {
            throw value.position.error("names is \(value.kind)", hint: "write NAME: {root: PATH}")
        }
        var roots: [String: [UInt8]] = [:]
        for member in members {
            let object = try SourceObject(member.value, "a name", known: ["root"])
            guard let path = try object.text("root") else { throw object.missing("root", "root: PATH") }
            roots[member.name] = try InputFile.read(self.resolved(path.value))
        }
        return roots
    }

    /// Who is warned. Addresses and keys are secrets, and stand in files of their own.
    func alerts() throws -> [AlertTarget] {
        var names: Set<String> = []
        return try self.root.list("alerts", most: Self.most).enumerated().map { index, value in
            let object = try SourceObject(value, "an alert", known: ["type", "name", "urlFile", "keyFile"])
            guard let type = try object.text("type") else { throw object.missing("type", "type: slack") }
            guard let kind = AlertTarget.Kind(rawValue: type.value) else {
                let known = AlertTarget.Kind.allCases.map(\.rawValue).joined(separator: ", ")
                throw type.position.error("type is none of \(known)")
            }
            let name = try object.text("name")?.value ?? "\(kind.rawValue)-\(index + 1)"
            let key = try object.text("keyFile").map { try self.secret($0.value) } ?? ""
            var address = try object.text("urlFile").map { try self.secret($0.value) } ?? ""
            if address.isEmpty, kind == .pagerduty { address = "https://events.pagerduty.com/v2/enqueue" }
            guard !address.isEmpty else { throw object.missing("urlFile", "urlFile: PATH") }
            // Said without the address, which is a secret.
            guard let url = URL(string: address), ["https", "http"].contains(url.scheme), url.host?.isEmpty == false
            else { throw type.position.error("what the urlFile of \(name) holds is no address", hint: "https://…") }
            guard names.insert(name).inserted else {
                throw type.position.error("two alerts are called \(name)", hint: "give each a name of its own")
            }
            guard kind != .pagerduty || !key.isEmpty else { throw object.missing("keyFile", "keyFile: PATH") }
            return AlertTarget(kind: kind, name: name, address: address, routingKey: key)
        }
    }

    private func secret(_ path: String) throws -> String {
        String(decoding: try InputFile.read(self.resolved(path)), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// A path of the file is one beside the file.
    private func resolved(_ path: String) -> String {
        URL(fileURLWithPath: path, relativeTo: URL(fileURLWithPath: self.path).deletingLastPathComponent()).path
    }
}
