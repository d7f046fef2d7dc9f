// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CPKCS11

/// A code that a function of a module returned (PKCS #11 2.40, section 3.6), in words where an operator can do
/// something.
struct PKCS11Error: Error, Hashable {
    static let success: p11_number = 0
    static let alreadyInitialised: p11_number = 0x191
    static let alreadyLoggedIn: p11_number = 0x100

    let code: p11_number

    /// Throws a code other than success.
    static func check(_ code: p11_number) throws(PKCS11Error) {
        guard code == self.success else { throw PKCS11Error(code: code) }
    }

    /// The meaning of the status, and the next step.
    func error(_ name: String, doing what: String) -> RepositoryError {
        switch self.code {
        case 0xA0, 0xA1, 0xA2:
            RepositoryError(
                .signer, "\(name): the token does not accept this PIN",
                hint: "a token locks itself after a few wrong ones")
        case 0xA4:
            RepositoryError(
                .signer, "\(name): the PIN is locked", hint: "the token's security officer can set a new one")
        case 0xE0, 0xE1: RepositoryError(.signer, "\(name): the token is gone, or cannot be read")
        case 0x32, 0x30: RepositoryError(.signer, "\(name): the token has a defect, or was removed")
        case 0x70, 0x71:
            RepositoryError(
                .signer, "\(name): the token does not sign in this way",
                hint: "ECDSA (P-256) or EdDSA (Ed25519) is needed")
        case 0x68: RepositoryError(.signer, "\(name): this key is not allowed to sign")
        case 0x101: RepositoryError(.signer, "\(name): the token wants to be logged in to, and no PIN was given")
        default:
            RepositoryError(
                .signer, "\(name): the token failed to \(what) (PKCS #11 code 0x\(String(self.code, radix: 16)))")
        }
    }
}
