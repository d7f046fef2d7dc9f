// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// The identity of a report: equal ones are the same report, or of the same kind.
///
/// Two digests: they have a fixed length for names of any length, and stored digests do not reveal hosts.
public struct ReportIdentity: Hashable, Sendable {
    /// Equal for identical failures: those with the same noted host, host, port, reason and issuer of the certificate,
    /// under any version of the list. Identical list incidents have the same reason and version, because each version
    /// is evidence of its own.
    public let id: String

    /// Equal for reports of one noted host and reason. All hosts that no entry covers count as one here: otherwise a
    /// peer that chooses hosts would choose the number of firsts.
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

    /// The issuer of the leaf: the pin of the certificate above it. An interceptor makes a new leaf and a new key for
    /// each connection, so neither identifies the interceptor. Of a self-issued leaf only the subject stays.
    private static func issuer(of chain: [[UInt8]]) -> String {
        guard let leaf = chain.first else { return "none" }
        guard let fields = try? CertificateFields(walking: leaf) else { return "unreadable leaf" }
        if leaf[fields.subject] != leaf[fields.issuer], chain.count > 1 {
            return (try? Pin(publicKeyOf: chain[1]))?.description ?? "unreadable issuer"
        }
        // The subject of a self-issued leaf; else the issuer's name.
        return "name/" + Envelope.digest(of: Array(leaf[fields.issuer]))
    }
}
