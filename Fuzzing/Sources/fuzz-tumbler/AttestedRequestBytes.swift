// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinReportAnalysis

/// What the service reads of an installation that attests: the field `Tumbler-Assertion`, and the body that registers a key.
///
/// The bytes are taken as the field, as the JSON within the field, and as the body.
enum AttestedRequestBytes: FuzzTarget {
    static let name = "attested-requests"

    /// A field's JSON, a body, and a field.
    static let seeds: [[UInt8]] = {
        let (id, challenge) = ([UInt8](repeating: 7, count: 32), [UInt8](repeating: 8, count: 32))
        let field = Self.json([("keyId", id), ("challenge", challenge), ("assertion", [0xa0])])
        let body = Self.json(
            [("keyId", id), ("challenge", challenge), ("attestation", [0xa0])], name: "com.example.app")
        return [field, body, Array(Base64.encode(field).utf8)]
    }()

    private static func json(_ members: [(String, [UInt8])], name: String? = nil) -> [UInt8] {
        let named = name.map { [JSONValue.Member("name", .string($0))] } ?? []
        return JSONValue.object(named + members.map { .init($0.0, .string(Base64.encode($0.1))) }).bytes
    }

    static func check(_ bytes: [UInt8]) {
        if let field = AssertionField(String(decoding: bytes, as: UTF8.self)) { self.check(field) }
        if let field = AssertionField(Base64.encode(bytes)) { self.check(field) }
        do throws(ReportError) { self.check(try KeyRegistration(bytes), of: bytes) } catch {
            precondition(ReportError.Code.all.contains(error.code) && error.detail.utf8.count < 512)
        }
    }

    private static func check(_ field: AssertionField) {
        precondition(field.keyID.count == 32 && field.challenge.count <= 32)
        precondition(field.assertion.count <= AssertionField.maximumAssertion)
        // What was read, written anew, is the same field.
        let again = Self.json([
            ("keyId", field.keyID), ("challenge", field.challenge), ("assertion", field.assertion),
        ])
        precondition(AssertionField(Base64.encode(again)) == field)
    }

    private static func check(_ key: KeyRegistration, of bytes: [UInt8]) {
        precondition(bytes.count <= KeyRegistration.maximumBytes)
        precondition(key.keyID.count == 32 && key.challenge.count <= 32)
        precondition(key.attestation.count <= KeyRegistration.maximumAttestation)
        precondition(key.name.utf8.count <= 4_096)
    }
}
