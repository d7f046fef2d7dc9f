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
        let head: [UInt8] = Array(SHA256.hash(data: Data(self.appID.utf8))) + [0x40, 0, 0, 0, 1]
        let version: [UInt8] = [0x77] + Array("apple_bundle_version_01".utf8) + [0x61, 0x31]
        let name: [UInt8] = Array("apple_validation_category_01".utf8)
        let category: [UInt8] = [0x78, 0x1c] + name + [0x44, 4, 0, 0, 0]
        return [head, head + [0xa0], head + [0xa2] + version + category, head + [0xa1] + category]
    }

    static func check(_ bytes: [UInt8]) {
        self.checkFields(of: AuthenticatorData(bytes: bytes))
        guard bytes.count < 60_000, let signer, let key = AttestedKey(x963: Array(signer.publicKey.x963Representation))
        else { return }
        let clientDataHash = Array(SHA256.hash(data: [UInt8]()))
        let nonce = Array(SHA256.hash(data: bytes + clientDataHash))
        guard let signature = try? signer.signature(for: nonce) else { return }
        let signed = Array(signature.derRepresentation)
        var assertion: [UInt8] = [0xa2, 0x69] + Array("signature".utf8) + [0x58, UInt8(signed.count)] + signed
        assertion += [0x71] + Array("authenticatorData".utf8)
        assertion += [0x59, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xff)] + bytes
        let message = assertion
        let known = KnownKey(key, counter: 0, namesCategory: false, namesBundleVersion: false)
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            do throws(AttestationError) {
                let verified = try await AssertionVerifier(appID: self.appID).verify(
                    message, by: known, clientData: .bytes([])
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
