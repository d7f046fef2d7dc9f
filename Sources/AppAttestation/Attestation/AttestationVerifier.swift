// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import CertificatePinning
import Crypto
import PathValidation

/// Verifies attestations: a key was made in the Secure Enclave of a device, by an unmodified copy of an app.
///
/// Bytes, an app id and a time in; a value, or a refusal that names the step, out. No network, no clock, no store. The steps
/// are those of Apple's "Validating apps that connect to your server", in their order.
public struct AttestationVerifier: Sendable {
    /// The app id: `TEAMID.bundle.id`.
    public let appID: String

    /// The environment that keys must be of.
    public let environment: AttestationEnvironment

    /// The launch categories that are accepted where an attestation names one.
    public let categories: Set<LaunchCategory>

    private let roots: RootStore

    /// Creates a verifier for one app.
    ///
    /// - Parameters:
    ///   - appID: The app id: `TEAMID.bundle.id`; on a Mac, with the signing identifier in place of the bundle's.
    ///   - environment: The environment that keys must be of.
    ///   - categories: The launch categories that are accepted; those of the environment where this is `nil`.
    ///   - root: The certificate in DER that paths must end in: Apple's.
    public init(
        appID: String, environment: AttestationEnvironment, categories: Set<LaunchCategory>? = nil,
        root: [UInt8] = AppleRoot.appAttestation
    ) {
        self.appID = appID
        self.environment = environment
        self.categories = categories ?? environment.usualCategories
        self.roots = RootStore(certificates: [root])
    }

    /// Verifies an attestation.
    ///
    /// - Parameters:
    ///   - attestation: The app's CBOR map.
    ///   - keyID: The key id that the app sent beside it: 32 bytes.
    ///   - challenge: The challenge that was given to the app for this attestation; it must not be accepted again.
    ///   - time: The time of arrival.
    /// - Returns: The values that a server stores.
    /// - Throws: ``AttestationError`` with the number of the first step that fails, or without one for bytes that are
    ///   not an attestation.
    public func verify(
        _ attestation: [UInt8], keyID: [UInt8], challenge: ClientData, at time: Timestamp
    ) async throws(AttestationError) -> VerifiedAttestation {
        let object = try AttestationObject(attestation)
        let leaf = try await self.leaf(of: object, at: time)
        // Steps 2 and 3 compute the nonce.
        let data = object.authenticatorData
        guard leaf.holds(nonce: challenge.nonce(with: data.bytes)) else {
            throw AttestationError(step: 4, "the certificate was made for another nonce, or another challenge")
        }
        guard leaf.hasAcceptableKeyPolicy else {
            throw AttestationError(step: 4, "the key's policy is not that of a Mac with Full Security")
        }
        guard let key = leaf.key, key.id == keyID else {
            throw AttestationError(step: 5, "the certificate's key is not the one with this key id")
        }
        guard let idHash = data.idHash, idHash.elementsEqual(SHA256.hash(data: Array(self.appID.utf8))) else {
            throw AttestationError(step: 6, "the attestation is of another app")
        }
        guard data.counter == 0 else { throw AttestationError(step: 7, "the counter is not 0") }
        guard let aaguid = data.aaguid, AttestationEnvironment(aaguid: aaguid) == self.environment else {
            throw AttestationError(step: 8, "the key is not of the environment \(self.environment.rawValue)")
        }
        guard let credentialID = data.credentialID, credentialID.elementsEqual(keyID) else {
            throw AttestationError(step: 9, "the credential id is not the key id")
        }
        let extensions = try Self.extensions(of: data, behind: credentialID.endIndex, key: key)
        let category = try self.category(of: extensions)
        do throws(AuthenticatorExtensions.ParsingError) {
            return VerifiedAttestation(
                key: key, environment: self.environment, receipt: object.receipt, category: category,
                bundleVersion: try extensions.bundleVersion())
        } catch {
            throw AttestationError(step: 11, error.reason)
        }
    }

    /// Step 1: the leaf of a path to the root.
    private func leaf(of object: AttestationObject, at time: Timestamp) async throws(AttestationError)
        -> LeafCertificate
    {
        // Counts alone bound the search, because there is no clock here.
        let validator = PathValidator(roots: self.roots) { 0 }
        switch await validator.validate(presented: object.certificates, as: .noServer, at: time).result {
        case .success(let path) where path.certificates.count > 1: break
        case .success: throw AttestationError(step: 1, "x5c is the root itself")
        case .failure(let refusal):
            throw AttestationError(step: 1, "x5c is not a path to the root: \(refusal.detail)")
        }
        guard let leaf = LeafCertificate(object.certificates[0]), !leaf.isAuthority else {
            throw AttestationError(step: 1, "the first certificate of x5c is not that of a key")
        }
        return leaf
    }

    /// The extensions, which follow the COSE key under any flags. The COSE key belongs to the credential id, so another
    /// key there is refused with step 9.
    private static func extensions(
        of data: AuthenticatorData, behind position: Int, key: AttestedKey
    ) throws(AttestationError) -> AuthenticatorExtensions {
        var rest = data.bytes[position...]
        do throws(CBORError) {
            var reader = try CBORReader(rest)
            guard try reader.next() == Self.coseKey(key) else { throw CBORError(description: "another key") }
            rest = rest[reader.position...]
        } catch {
            throw AttestationError(step: 9, "the credential's public key is not the certificate's: \(error)")
        }
        do throws(AuthenticatorExtensions.ParsingError) { return try AuthenticatorExtensions(rest) } catch {
            throw AttestationError(step: 10, error.reason)
        }
    }

    /// A key of P-256 for ES256 as COSE writes it (RFC 9053, sections 2.1 and 7.1.1).
    private static func coseKey(_ key: AttestedKey) -> CBORValue {
        .map([
            .unsigned(1): .unsigned(2), .unsigned(3): .negative(6), .negative(0): .unsigned(1),
            .negative(1): .bytes(Array(key.x963[1..<33])), .negative(2): .bytes(Array(key.x963[33..<65])),
        ])
    }

    /// Step 10.
    private func category(
        of extensions: AuthenticatorExtensions
    ) throws(AttestationError) -> LaunchCategory? {
        do throws(AuthenticatorExtensions.ParsingError) {
            guard let category = try extensions.category() else { return nil }
            guard self.categories.contains(category) else {
                throw AuthenticatorExtensions.ParsingError(reason: "the launch category \(category) is not accepted")
            }
            return category
        } catch {
            throw AttestationError(step: 10, error.reason)
        }
    }
}

/// A verified attestation of a key. Only ``AttestationVerifier`` creates one.
///
/// A server stores it: assertions are verified against it (``KnownKey``), and the attestation itself cannot be verified
/// a second time once its certificate has ended, in three days to eleven months.
public struct VerifiedAttestation: Sendable {
    /// The public key of the installation.
    public let key: AttestedKey

    /// The environment of the key.
    public let environment: AttestationEnvironment

    /// Apple's receipt, not verified: ``ReceiptVerifier`` does that.
    public let receipt: [UInt8]

    /// The distribution of the app; `nil` before iOS 27.
    public let category: LaunchCategory?

    /// The version of the app; `nil` before iOS 27. Text from a device.
    public let bundleVersion: String?
}
#endif
