// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import PinListMetadata

/// Signs reports, so that a service can tell them from made-up ones. `AppAttestClient` of `PinningURLSession` is one.
///
/// A report that cannot be signed is sent unsigned, with the reason in `tumbler.attestation`.
public protocol ReportAttestor: Sendable {
    /// The signature of a report, or the reason for its absence.
    ///
    /// - Parameters:
    ///   - body: The body, as it will be sent.
    ///   - address: The address. Only the origin that the app named gets a signature.
    func attestation(of body: [UInt8], to address: String) async -> ReportSignature

    /// Receives the answer of an address to a report.
    func answered(_ answer: FetchResponse, from address: String) async
}

/// The signature of a report, or the reason for its absence.
public enum ReportSignature: Hashable, Sendable {
    /// No signature: the address is not of the origin that the app named.
    case elsewhere
    /// The value of the field `Tumbler-Assertion`.
    case signed(String)
    /// No signature, with the reason.
    case unsigned(AppAttestError.Code)

    /// The name of the field.
    static let field = "Tumbler-Assertion"

    /// The hash of a report that a key signs (formats.md, section 7): the SHA-256 of the service's client data.
    @_spi(Adapters) public static func clientDataHash(name: String, challenge: [UInt8], body: [UInt8]) -> [UInt8] {
        let clientData = SHA256.hash(
            data: Array("tumbler-report-1".utf8) + [0] + Array(name.utf8) + [0] + challenge + body)
        return Array(SHA256.hash(data: Array(clientData)))
    }

    /// The hash that Apple binds into an attestation: the SHA-256 of the challenge; so in an assertion that of the client
    /// data.
    @_spi(Adapters) public static func clientDataHash(challenge: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(data: challenge))
    }

    /// A body with the reason why it is not signed; unchanged where it cannot be added.
    static func body(_ body: [UInt8], because code: AppAttestError.Code) -> [UInt8] {
        guard case .object(var members)? = try? JSONValue(strict: body),
            let index = members.firstIndex(where: { $0.name == "tumbler" }),
            case .object(let ours) = members[index].value, !ours.contains(where: { $0.name == "attestation" })
        else { return body }
        members[index] = JSONValue.Member(
            "tumbler", .object(ours + [JSONValue.Member("attestation", .string(code.description))]))
        return JSONValue.object(members).bytes
    }
}

extension PinningConfiguration {
    /// Posts a report, signed where the app asks for that.
    func post(_ body: [UInt8], to address: String) async throws -> FetchResponse {
        guard let attestation = self.attestation else { return try await self.reportSender.send(body, to: address) }
        let answer: FetchResponse
        switch await attestation.attestation(of: body, to: address) {
        case .elsewhere: return try await self.reportSender.send(body, to: address)
        case .signed(let value):
            answer = try await self.reportSender.send(body, to: address, fields: [ReportSignature.field: value])
        case .unsigned(let code):
            answer = try await self.reportSender.send(ReportSignature.body(body, because: code), to: address)
        }
        await attestation.answered(answer, from: address)
        return answer
    }
}
