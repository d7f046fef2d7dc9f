// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import Crypto

/// Verifies assertions: that a request was signed by a key that was attested, and is no repetition.
///
/// The steps are those of Apple's "Validating apps that connect to your server", in their order. Real devices write 37 bytes
/// of authenticator data whose flags promise attested data that is not there, and sign the nonce as a message, so that it is
/// hashed once more.
public struct AssertionVerifier: Sendable {
    /// The app id: `TEAMID.bundle.id`.
    public let appID: String

    /// The launch categories that are accepted where an assertion names one.
    public let categories: Set<LaunchCategory>

    /// Creates a verifier for one app.
    ///
    /// - Parameters:
    ///   - appID: The app id: `TEAMID.bundle.id`; on a Mac, with the signing identifier in place of the bundle's.
    ///   - categories: The launch categories that are accepted.
    public init(appID: String, categories: Set<LaunchCategory> = AttestationEnvironment.production.usualCategories) {
        self.appID = appID
        self.categories = categories
    }

    /// Verifies an assertion.
    ///
    /// - Parameters:
    ///   - assertion: What the app sent: a CBOR map.
    ///   - known: What is stored of the key.
    ///   - clientData: The request that the app signed, byte for byte as it arrived.
    ///   - isChallengeGiven: Whether the challenge within the request is one that was given out and was not used yet. Asked
    ///     once everything before it holds, so that a stranger's request uses up no challenge.
    /// - Returns: What a server stores and goes by.
    /// - Throws: ``AttestationError`` with the number of the first step that fails, or without one for bytes that are no
    ///   assertion.
    public func verify(
        _ assertion: [UInt8], by known: KnownKey, clientData: ClientData, isChallengeGiven: () async -> Bool
    ) async throws(AttestationError) -> VerifiedAssertion {
        let object: CBORValue
        do throws(CBORError) { object = try CBORReader.value(of: assertion[...]) } catch {
            throw AttestationError(step: nil, "the assertion cannot be read: \(error)")
        }
        guard let signature = object["signature"]?.asBytes, let bytes = object["authenticatorData"]?.asBytes else {
            throw AttestationError(step: nil, "a member of the assertion is missing or of another type")
        }
        // Steps 1 and 2 make the nonce, which is the message that was signed.
        guard known.key.verifies(signature, over: clientData.nonce(with: bytes)) else {
            throw AttestationError(step: 3, "the signature does not hold over this request")
        }
        let data = AuthenticatorData(bytes: bytes)
        guard let idHash = data.idHash, idHash.elementsEqual(SHA256.hash(data: Array(self.appID.utf8))) else {
            throw AttestationError(step: 4, "the assertion is of another app")
        }
        guard let counter = data.counter, counter > known.counter else {
            throw AttestationError(step: 5, "the counter is not greater than \(known.counter)")
        }
        guard await isChallengeGiven() else {
            throw AttestationError(step: 6, "the challenge was not given, or was used before")
        }
        let (extensions, category) = try self.category(in: data, known)
        do throws(AuthenticatorExtensions.ParsingError) {
            let version = try extensions.bundleVersion()
            guard version != nil || !known.namesBundleVersion else {
                throw AuthenticatorExtensions.ParsingError(
                    reason: "the app's version is missing, which the attestation had")
            }
            return VerifiedAssertion(counter: counter, category: category, bundleVersion: version)
        } catch {
            throw AttestationError(step: 8, error.reason)
        }
    }

    /// Step 7.
    private func category(
        in data: AuthenticatorData, _ known: KnownKey
    ) throws(AttestationError) -> (AuthenticatorExtensions, LaunchCategory?) {
        do throws(AuthenticatorExtensions.ParsingError) {
            let extensions = try AuthenticatorExtensions(data.rest)
            let category = try extensions.category()
            if let category, !self.categories.contains(category) {
                throw AuthenticatorExtensions.ParsingError(reason: "the launch category \(category) is not accepted")
            }
            guard category != nil || !known.namesCategory else {
                throw AuthenticatorExtensions.ParsingError(
                    reason: "the launch category is missing, which the attestation had")
            }
            return (extensions, category)
        } catch {
            throw AttestationError(step: 7, error.reason)
        }
    }
}

/// What an assertion that was verified says. Only ``AssertionVerifier`` makes one.
public struct VerifiedAssertion: Hashable, Sendable {
    /// The counter, which the server stores in place of the one that it has, in one step with comparing them: two assertions
    /// may be verified at the same time.
    public let counter: UInt32

    /// How the app that is running had been distributed; `nil` before iOS 27.
    public let category: LaunchCategory?

    /// The version of the app that is running; `nil` before iOS 27. Text from a device.
    public let bundleVersion: String?
}
#endif
