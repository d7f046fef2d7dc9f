// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import Crypto

/// Verifies assertions: an attested key signed the request, and it is no repetition.
///
/// The steps are those of Apple's "Validating apps that connect to your server", in their order. Real devices send 37
/// bytes of authenticator data whose flags announce attested data that is missing, and sign the nonce as a message, so
/// that it is hashed once more.
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
    ///   - assertion: The app's CBOR map.
    ///   - known: The stored state of the key.
    ///   - clientData: The request that the app signed, byte for byte as it arrived.
    ///   - isChallengeGiven: Whether the challenge in the request was given out and not used yet. Called only after all
    ///     earlier checks passed, so that a forged request uses up no challenge.
    /// - Returns: The values that a server stores and decides by.
    /// - Throws: ``AttestationError`` with the number of the first step that fails, or without one for bytes that are
    ///   not an assertion.
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
        // Steps 1 and 2 compute the nonce, which is the signed message.
        guard known.key.verifies(signature, over: clientData.nonce(with: bytes)) else {
            throw AttestationError(step: 3, "the signature is not valid for this request")
        }
        let data = AuthenticatorData(bytes: bytes)
        guard let idHash = data.idHash, idHash.elementsEqual(SHA256.hash(data: Array(self.appID.utf8))) else {
            throw AttestationError(step: 4, "the assertion is of another app")
        }
        guard let counter = data.counter, counter > known.counter else {
            throw AttestationError(step: 5, "the counter is not greater than \(known.counter)")
        }
        guard await isChallengeGiven() else {
            throw AttestationError(step: 6, "the challenge was not issued, or was used before")
        }
        let (extensions, category) = try self.category(in: data, known)
        do throws(AuthenticatorExtensions.ParsingError) {
            let version = try extensions.bundleVersion()
            guard version != nil || !known.namesBundleVersion else {
                throw AuthenticatorExtensions.ParsingError(
                    reason: "the app's version is missing, but the attestation had one")
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
                    reason: "the launch category is missing, but the attestation had one")
            }
            return (extensions, category)
        } catch {
            throw AttestationError(step: 7, error.reason)
        }
    }
}

/// A verified assertion. Only ``AssertionVerifier`` creates one.
public struct VerifiedAssertion: Hashable, Sendable {
    /// The counter. The server must compare it with the stored one and replace that in one step, because two assertions
    /// may be verified at the same time.
    public let counter: UInt32

    /// The distribution of the running app; `nil` before iOS 27.
    public let category: LaunchCategory?

    /// The version of the running app; `nil` before iOS 27. Text from a device.
    public let bundleVersion: String?
}
#endif
