// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// The field `Tumbler-Assertion` of a report (formats.md, section 7): base64 of JSON. Only its form is known.
public struct AssertionField: Hashable, Sendable {
    /// The maximum number of characters of the field: an assertion has about 200 bytes.
    public static let maximumLength = 8_192
    /// The length of a key id in bytes: it is a SHA-256.
    public static let keyIDBytes = 32
    /// The length of a challenge in bytes.
    public static let challengeBytes = 32
    /// The maximum number of bytes of an assertion: one has about 200.
    public static let maximumAssertion = 4_096

    /// 32 bytes.
    public let keyID: [UInt8]
    /// As it was given out, if it was; 32 bytes at most.
    public let challenge: [UInt8]
    /// A CBOR map, if it is one.
    public let assertion: [UInt8]

    /// Reads a value; `nil` for one of another form.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.maximumLength, let json = Base64.decode(text.utf8),
            let value = try? JSONValue(strict: json, maximumValues: 8),
            let members = try? ReportMembers(value, "the field"), let keyID = try? members.keyID(),
            let challenge = try? members.bytes("challenge", maximum: Self.challengeBytes),
            let assertion = try? members.bytes("assertion", maximum: Self.maximumAssertion)
        else { return nil }
        (self.keyID, self.challenge, self.assertion) = (keyID, challenge, assertion)
    }
}

/// The body of `POST /v1/attest/keys`: what an installation registers. Only its form is known.
public struct KeyRegistration: Hashable, Sendable {
    /// The maximum number of bytes of a body: an attestation of 64 KiB in base64, and some.
    public static let maximumBytes = 98_304
    /// The maximum number of bytes of an attestation: what is read of CBOR.
    public static let maximumAttestation = 65_536

    /// The list that it is registered for.
    public let name: String
    /// 32 bytes.
    public let keyID: [UInt8]
    /// As it was given out, if it was; 32 bytes at most.
    public let challenge: [UInt8]
    /// A CBOR map, if it is one.
    public let attestation: [UInt8]

    /// Reads a body.
    ///
    /// - Throws: ``ReportError``, which says what is wrong with it.
    public init(_ body: [UInt8]) throws(ReportError) {
        guard body.count <= Self.maximumBytes else {
            throw ReportError(.tooLarge, "the body is over \(Self.maximumBytes) bytes")
        }
        let value: JSONValue
        do throws(JSONValue.ParsingError) { value = try JSONValue(strict: body, maximumValues: 16) } catch {
            throw ReportError(.notJSON, "the body is not JSON that can be taken: \(error.reason)")
        }
        let members = try ReportMembers(value, "the key")
        guard let name = try members.text("name"), let keyID = try members.keyID(),
            let challenge = try members.bytes("challenge", maximum: AssertionField.challengeBytes),
            let attestation = try members.bytes("attestation", maximum: Self.maximumAttestation)
        else { throw ReportError(.wrongType, "name, keyId, challenge or attestation of the key is absent") }
        (self.name, self.keyID, self.challenge, self.attestation) = (name, keyID, challenge, attestation)
    }
}

extension ReportMembers {
    /// The id of a key: `nil` where there is none.
    fileprivate func keyID() throws(ReportError) -> [UInt8]? {
        guard let keyID = try self.bytes("keyId", maximum: AssertionField.keyIDBytes) else { return nil }
        guard keyID.count == AssertionField.keyIDBytes else {
            throw ReportError(.outOfRange, "keyId of \(self.place) is not of \(AssertionField.keyIDBytes) bytes")
        }
        return keyID
    }
}
