// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A key on a token: a hardware security module, a smart card, or SoftHSM.
public struct PKCS11Signer: MetadataSigner {
    /// The maximum time in seconds that a token may take, a touch of its button included.
    public static let maximumSeconds = 60.0

    /// The name as it was written; a PIN cannot stand in it.
    public var name: String { self.token.uri.description }

    private let token: PKCS11Token
    private let seconds: Double

    /// Names a key.
    ///
    /// - Parameters:
    ///   - uri: The key's name.
    ///   - pin: The source of the PIN when the name has no `pin-source`.
    ///   - environment: The process's environment: `TUMBLER_PKCS11_MODULE` is the module when the name says none.
    ///   - seconds: The most seconds that the token may take.
    public init(
        _ uri: PKCS11URI, pin: PassphraseSource, environment: [String: String],
        maximumSeconds seconds: Double = Self.maximumSeconds
    ) {
        self.token = PKCS11Token(uri: uri, environment: environment, pin: pin)
        self.seconds = seconds
    }

    /// Opens a session, logs in, and has the token sign.
    ///
    /// - Throws: ``RepositoryError`` with what to do.
    public func signature(over message: [UInt8]) async throws(RepositoryError) -> [UInt8] {
        let token = self.token
        return try await self.answer { () throws(RepositoryError) in try token.signature(over: message) }
    }

    /// The public half of the key.
    ///
    /// - Returns: DER SubjectPublicKeyInfo.
    /// - Throws: ``RepositoryError`` when there is no such key, or it is of another kind than metadata has.
    public func subjectPublicKeyInfo() async throws(RepositoryError) -> [UInt8] {
        let token = self.token
        return try await self.answer { () throws(RepositoryError) in try token.subjectPublicKeyInfo() }
    }

    private func answer(
        _ body: @escaping @Sendable () throws(RepositoryError) -> [UInt8]
    ) async throws(RepositoryError) -> [UInt8] {
        guard let answer = await BlockingCall.answer(within: self.seconds, body) else {
            throw RepositoryError(
                .signer, "\(self.name): the token has not answered within \(self.seconds.formattedSeconds) seconds",
                hint: "does it wait for a touch, or for its cable?")
        }
        return try answer.get()
    }
}
