// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@_spi(Parsers) import AppAttestation
import Crypto
import Foundation

/// Authenticator data behind a signature that holds: of an assertion by a key that this target knows, with what follows
/// hash and counter; and of an attestation, field by field.
enum AuthenticatorDataBytes: FuzzTarget {
    static let name = "authenticator-data"

    private static let appID = "ABCDE12345.com.example.app"
    private static let signer = try? P256.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: 7, count: 32))

    static var seeds: [[UInt8]] {
        let head = Array(SHA256.hash(data: Data(self.appID.utf8))) + [0x40, 0, 0, 0, 1]
        let version = [0x77] + Array("apple_bundle_version_01".utf8) + [0x61, 0x31]
        let category = [0x78, 0x1c] + Array("apple_validation_category_01".utf8) + [0x44, 4, 0, 0, 0]
        return [head, head + [0xa0], head + [0xa2] + version + category, head + [0xa1] + category]
    }

    static func check(_ bytes: [UInt8]) {
        self.checkFields(of: AuthenticatorData(bytes: bytes))
        guard bytes.count < 60_000, let signer, let key = AttestedKey(x963: Array(signer.publicKey.x963Representation)),
            let signature = try? signer.signature(
                for: Array(SHA256.hash(data: bytes + Array(SHA256.hash(data: [UInt8]())))))
        else { return }
        let assertion =
            [0xa2, 0x69] + Array("signature".utf8) + [0x58, UInt8(signature.derRepresentation.count)]
            + signature.derRepresentation + [0x71] + Array("authenticatorData".utf8)
            + [0x59, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xff)] + bytes
        let known = KnownKey(key, counter: 0, namesCategory: false, namesBundleVersion: false)
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            do throws(AttestationRefusal) {
                let verified = try await AssertionVerifier(appID: self.appID).verify(
                    assertion, by: known, clientData: .bytes([])
                ) { true }
                precondition(verified.counter > 0 && bytes.count >= 37)
                precondition(verified.category.map { [2, 4, 5].contains($0.rawValue) } ?? true)
            } catch {
                // The signature holds, so that every refusal is a later step's.
                precondition([4, 5, 7, 8].contains(error.step))
            }
            done.signal()
        }
        done.wait()
    }

    /// A field is there when the data is long enough for it, and only then.
    private static func checkFields(of data: AuthenticatorData) {
        precondition((data.idHash?.count == 32) == (data.bytes.count >= 32))
        precondition((data.counter != nil) == (data.bytes.count >= AuthenticatorData.headLength))
        precondition((data.aaguid?.count == 16) == (data.bytes.count >= 53))
        if let credentialID = data.credentialID {
            precondition(credentialID.count == Int(data.bytes[53]) << 8 | Int(data.bytes[54]))
        }
        precondition(data.rest.count == max(0, data.bytes.count - AuthenticatorData.headLength))
    }
}
