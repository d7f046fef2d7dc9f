// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// When two reports are the same, and which are of one kind.
///
/// Two digests: they have a fixed length, whatever a peer puts into a name, and what is stored tells nothing of hosts.
public struct ReportIdentity: Hashable, Sendable {
    /// Identical failures have the same: noted host, host, port, reason, and who issued the certificate, whatever the
    /// list's version. Identical list incidents have the same reason and version: each version's evidence is its own.
    public let id: String

    /// Reports of one noted host and reason have the same. What no entry covers is one host here, or whoever chooses
    /// hosts would choose how many firsts there are.
    public let kind: String

    /// The length of either digest, in characters.
    static let length = 64

    init(id: String, kind: String) {
        self.id = id
        self.kind = kind
    }

    /// The identity of a failure.
    ///
    /// - Parameter chain: The validated path, or what was served where there is none; leaf first.
    init(_ decision: PinningDecision, _ reason: PinningDecision.Reason, port: Int, chain: [[UInt8]]) {
        let noted = decision.entry?.domain.description ?? ""
        self.init(
            noted: noted,
            rest: [.string(decision.host), .integer(Int64(port)), .string(Self.issuer(of: chain))], reason.description)
    }

    /// The identity of a list incident.
    init(incident reason: String, version: Int64?) {
        self.init(noted: "", rest: [.string("list"), version.map { .integer($0) } ?? .null], reason)
    }

    private init(noted: String, rest: [JSONValue], _ reason: String) {
        let kind: [JSONValue] = [.string(noted), .string(reason)]
        self.id = Envelope.digest(of: JSONValue.array(kind + rest).bytes)
        self.kind = Envelope.digest(of: JSONValue.array(kind).bytes)
    }

    /// Who issued the leaf: the pin of the certificate above it. An interceptor makes a new leaf for each connection,
    /// and a new key with it, so neither can tell one interceptor from another; a leaf that names itself as its issuer
    /// has only its subject that stays.
    private static func issuer(of chain: [[UInt8]]) -> String {
        guard let leaf = chain.first else { return "none" }
        guard let fields = try? CertificateFields(walking: leaf) else { return "unreadable leaf" }
        if leaf[fields.subject] != leaf[fields.issuer], chain.count > 1 {
            return (try? Pin(publicKeyOf: chain[1]))?.description ?? "unreadable issuer"
        }
        // The name as it stands; for a leaf alone that names another, its issuer's.
        return "name/" + Envelope.digest(of: Array(leaf[fields.issuer]))
    }
}
