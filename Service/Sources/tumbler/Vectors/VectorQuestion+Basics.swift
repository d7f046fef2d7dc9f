// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CertificateTransparency
import PathValidation
import PinListMetadata
import PinningMigration

/// Pins, hosts, paths and what Apple's configuration means.
extension VectorQuestion {
    /// The pins of a certificate.
    func pinOfCertificate() throws -> JSONValue {
        let certificate = try self.base64("certificate")
        guard let pin = try? Pin(publicKeyOf: certificate) else { return .members(["refused": .string("unreadable")]) }
        let whole = Pin(kind: .certificate, hashing: certificate)
        return .members(["certificatePin": .string(whole.description), "pin": .string(pin.description)])
    }

    /// A pin as it stands in a list (`list`), or as people and other tools write it.
    func readPin() throws -> JSONValue {
        let text = try self.text("text")
        let pin = try self.text("form") == "list" ? try? Pin(canonical: text) : try? Pin(text)
        return pin.map { .members(["pin": .string($0.description)]) } ?? .members(["refused": .string("no-pin")])
    }

    /// A host as it is compared: a name, or the bytes of an address.
    func normalise() throws -> JSONValue {
        let text = try self.text("host")
        guard let host = try? HostName(text) else { return .members(["refused": .string("host-invalid")]) }
        guard let address = IPAddress(host) else { return .members(["host": .string(host.description)]) }
        return .members(["address": .string(Hexadecimal.text(of: address.bytes))])
    }

    /// The entry that applies to a host: its domain as it was written.
    func note() throws -> JSONValue {
        var written: [HostName: String] = [:]
        do {
            let entries = try self.objects("entries").map { entry in
                let host = try HostName(try entry.text("domain"))
                written[host] = try entry.text("domain")
                return PinnedDomain(
                    host, includeSubdomains: try entry.flag("includeSubdomains"), mode: .off, pins: [])
            }
            let policy = try PinningPolicy(domains: entries)
            let noted = policy.entry(for: try HostName(try self.text("host"))).flatMap { written[$0.domain] }
            return .members(["noted": noted.map { .string($0) } ?? .null])
        } catch let error as InputError where error.code == .host {
            return .members(["refused": .string("host-invalid")])
        }
    }

    /// The validated path of a presented chain, as pins.
    func validatePath() async throws -> JSONValue {
        let text = try self.text("host")
        guard let host = try? HostName(text) else { return .members(["refused": .string("host-invalid")]) }
        let revocation: RevocationCheck?
        do { revocation = try self.revocationCheck() } catch let error as InputError
            where error.code == .revocationList || error.code == .pem
        {
            return .members(["refused": .string(PinningDecision.Reason.malformed.description)])
        }
        // An answer must not depend on how fast this machine is: only the counts of work limit it.
        let validator = PathValidator(
            roots: RootStore(certificates: try self.chain("roots")), revocation: revocation,
            monotonicNanoseconds: { 0 })
        let outcome = await validator.validate(
            presented: try self.chain("chain"), as: .host(host), at: try self.time("at"))
        switch outcome.result {
        case .success(let path):
            return .members(["path": .array(path.publicKeyPins.map { $0.map { .string($0.description) } ?? .null })])
        case .failure(let refusal): return .members(["refused": .string(refusal.reason.description)])
        }
    }

    /// The revocation lists that a path must pass; `nil` where the question has none.
    private func revocationCheck() throws -> RevocationCheck? {
        guard let lists = try self.optionalChain("crls") else { return nil }
        guard let demand = RevocationCheck.Demand(rawValue: try self.text("revocation")) else {
            throw Self.missing("revocation")
        }
        return RevocationCheck(try RevocationLists(lists), demand)
    }

    /// Evaluates the timestamps of a path's leaf by a log list and a policy, without its words.
    func evaluateTransparency() throws -> JSONValue {
        guard let policy = TransparencyPolicy(named: try self.text("policy")) else { throw Self.missing("policy") }
        let text = try self.text("logs")
        guard let logs = try? LogList(Array(text.utf8)) else {
            return .members(["refused": .string(PinningDecision.Reason.malformed.description)])
        }
        let path = ValidatedPath(uncheckedValidatedPath: try self.chain("path"))
        let evaluation = TransparencyEvidence(of: path, logs: logs).evaluation(under: policy, at: try self.time("at"))
        return try Self.withoutWords(evaluation)
    }

    /// The decision of Apple's frameworks by `NSPinnedDomains`.
    func pinnedDomains() throws -> JSONValue {
        guard let configuration = self.value("configuration")?.foundationValue as? [String: Any] else {
            throw Self.missing("configuration")
        }
        let rule = try ApplePinnedDomains(configuration)
        let host = try HostName(try self.text("host"))
        return .members([
            "accepted": .bool(rule.accepts(keys: try self.chain("path"), for: host)),
            "pinned": .bool(rule.isPinned(host)),
        ])
    }
}

extension JSONValue {
    /// The value as a property list has it.
    fileprivate var foundationValue: Any {
        switch self {
        case .null: "null"
        case .bool(let value): value
        case .integer(let value): Int(clamping: value)
        case .string(let text): text
        case .array(let values): values.map(\.foundationValue)
        case .object(let members):
            Dictionary(members.map { ($0.name, $0.value.foundationValue) }) { first, _ in first }
        }
    }
}
